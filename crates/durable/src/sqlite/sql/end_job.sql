-- What a job's end writes beside its row, in the same transaction. Nothing of it is the spec's state.
--
--: stages
-- Stages of earlier attempts that kept something are due once more, also those whose first sweep is still to come:
-- a sweep judged before the end may be reported after it.
-- :job
UPDATE stage SET owed = owed + 1 WHERE job = :job

--: checkpoints
-- Nobody resumes any more. The rows stay for repeated requests.
-- :job
UPDATE checkpoint SET state = NULL, manifest = NULL WHERE job = :job
