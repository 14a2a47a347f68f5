//! The bounds of a model: `CONSTANTS` and `ASSUME`.

use std::fmt;

use super::rows::Service;

/// The bounds. Small numbers make a model that can be searched to its end; the audit uses large ones.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Constants {
    /// `Cardinality(Jobs)`.
    pub jobs: u16,
    /// `Cardinality(Workers)`: incarnations, used or not.
    pub workers: u16,
    /// `Cardinality(InitialWorkers)`: the first so many of `Workers` are up at the start.
    pub initial_workers: u16,
    /// `MaxAttempts`, of each job.
    pub max_attempts: u16,
    /// `MaxProgress`: an attempt with that much progress is complete.
    pub max_progress: u16,
    /// `LeaseLimit`: the age at which a lease may expire.
    pub lease_limit: u16,
    /// `LocalLimit`: reservations and executing attempts of one worker.
    pub local_limit: u16,
    /// `GlobalLimit`: reservations and live leases of all.
    pub global_limit: u16,
    /// `FaultsEnabled`.
    pub faults_enabled: bool,
    /// `FaultServices`, in the order of [`Service::ALL`].
    pub fault_services: [bool; 3],
}

/// The first part of `ASSUME` that does not hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BadConstants {
    /// This constant must be at least 1; the name is the spec's.
    Zero(&'static str),
    /// `InitialWorkers ⊆ Workers` does not hold.
    InitialWorkersNotSubset,
}

impl fmt::Display for BadConstants {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Zero(name) => write!(f, "{name} must not be zero or empty"),
            Self::InitialWorkersNotSubset => f.write_str("InitialWorkers must be a subset of Workers"),
        }
    }
}

impl std::error::Error for BadConstants {}

impl Constants {
    /// One of everything and no faults: configuration `a1`.
    pub const ONE: Self = Self {
        jobs: 1,
        workers: 1,
        initial_workers: 1,
        max_attempts: 1,
        max_progress: 1,
        lease_limit: 1,
        local_limit: 1,
        global_limit: 1,
        faults_enabled: false,
        fault_services: [false; 3],
    };

    /// These bounds, if `ASSUME` holds for them.
    ///
    /// # Errors
    /// The first part of `ASSUME` that does not hold.
    pub fn validate(self) -> Result<Self, BadConstants> {
        let naturals = [
            ("Jobs", self.jobs),
            ("Workers", self.workers),
            ("InitialWorkers", self.initial_workers),
            ("MaxAttempts", self.max_attempts),
            ("MaxProgress", self.max_progress),
            ("LeaseLimit", self.lease_limit),
            ("LocalLimit", self.local_limit),
            ("GlobalLimit", self.global_limit),
        ];
        if let Some((name, _)) = naturals.into_iter().find(|(_, value)| *value == 0) {
            return Err(BadConstants::Zero(name));
        }
        if self.initial_workers > self.workers {
            return Err(BadConstants::InitialWorkersNotSubset);
        }
        Ok(self)
    }

    /// The same bounds with faults of these services.
    #[must_use]
    pub fn with_faults(mut self, services: &[Service]) -> Self {
        self.faults_enabled = true;
        for service in services {
            self.fault_services[service.index()] = true;
        }
        self
    }

    /// `FaultsEnabled ∧ service ∈ FaultServices`.
    #[must_use]
    pub fn fault(&self, service: Service) -> bool {
        self.faults_enabled && self.fault_services[service.index()]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_assumptions_of_the_spec_are_checked_by_name() {
        assert_eq!(Constants::ONE.validate(), Ok(Constants::ONE));
        let none = Constants { lease_limit: 0, ..Constants::ONE };
        assert_eq!(none.validate().unwrap_err().to_string(), "LeaseLimit must not be zero or empty");
        let many = Constants { initial_workers: 2, ..Constants::ONE };
        assert_eq!(many.validate(), Err(BadConstants::InitialWorkersNotSubset));
    }

    #[test]
    fn a_fault_needs_faults_and_its_service() {
        let faulty = Constants::ONE.with_faults(&[Service::Durable]);
        assert!(faulty.fault(Service::Durable) && !faulty.fault(Service::Target));
        assert!(!Constants { faults_enabled: false, ..faulty }.fault(Service::Durable));
    }
}
