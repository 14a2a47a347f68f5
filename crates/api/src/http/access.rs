//! Tokens and the trail, beside the port: only a server has them.

use reqwest::Method;

use super::Http;
use super::send::{Fields, name};
use crate::port::Answer;
use crate::v1::{MadeToken, Page, Token, TokenRequest, TrailRecord};

impl Http {
    /// What is known of the tokens.
    ///
    /// # Errors
    /// Why not.
    pub async fn tokens(&self) -> Answer<Vec<Token>> {
        self.get("/v1/tokens").await
    }

    /// Makes a token.
    ///
    /// # Errors
    /// Why not.
    pub async fn make_token(&self, request: &TokenRequest) -> Answer<MadeToken> {
        self.post("/v1/tokens", request).await
    }

    /// Revokes a token.
    ///
    /// # Errors
    /// Why not.
    pub async fn revoke_token(&self, id: &str) -> Answer<()> {
        let request = self.request(Method::DELETE, &format!("/v1/tokens/{}", name(id)));
        self.answer(request).await.map(drop)
    }

    /// A page of the trail, newest first.
    ///
    /// # Errors
    /// Why not.
    pub async fn trail(&self, cursor: Option<&str>, limit: Option<u32>) -> Answer<Page<TrailRecord>> {
        let fields = Fields::default().with("cursor", cursor).with("limit", limit);
        self.get(&fields.behind("/v1/trail")).await
    }
}
