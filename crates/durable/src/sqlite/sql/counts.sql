-- Jobs per queue and phase.
SELECT queue, phase, jobs FROM phase_count WHERE jobs > 0 ORDER BY queue, phase
