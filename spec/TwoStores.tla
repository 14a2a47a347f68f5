------------------------------ MODULE TwoStores ------------------------------
\* The protocol of a job when the two stores are read and written in separate steps.
\*
\* State and properties are those of Remora. Three variables are new, and all three are memory of
\* processes: which permits a worker believes to hold (ticket), which jobs a dispatcher has read as
\* dispatchable (dispatchSeen), which attempts a reaper has seen without lease and permit (lostSeen).
\* What was read may have changed when it is acted upon.
\*
\* Six actions are new: DispatchRead and ReapObserve are the reads; ClaimRefused and ActivateRefused
\* are the hand-backs without which a late claim can leave everybody waiting; RestoreLease lets work
\* survive a loss; FalseSuspicion is a failure detector that is wrong. ActivateAttempt, ReportProgress
\* and RestoreLease act on an authority read earlier, CleanupStage on a death presumed.
\*
\* The module is not a refinement of Remora step by step; the running program is audited against it.
EXTENDS Naturals, FiniteSets, TLC

--------------------------------------------------------------------------------
\* BOUNDS

\* The bounds of the model. NoJob and NoWorker stand for "none".
CONSTANTS
  Jobs, Workers, InitialWorkers, NoJob, NoWorker, MaxAttempts, MaxProgress,
  LeaseLimit, LocalLimit, GlobalLimit, FaultsEnabled, FaultServices

ASSUME
  /\ Jobs # {}
  /\ Workers # {}
  /\ InitialWorkers \subseteq Workers
  /\ InitialWorkers # {}
  /\ MaxAttempts \in Nat \ {0}
  /\ MaxProgress \in Nat \ {0}
  /\ LeaseLimit \in Nat \ {0}
  /\ LocalLimit \in Nat \ {0}
  /\ GlobalLimit \in Nat \ {0}
  /\ FaultsEnabled \in BOOLEAN
  /\ FaultServices \subseteq {"Coordination", "Durable", "Target"}
  /\ NoJob \notin Jobs
  /\ NoWorker \notin Workers

--------------------------------------------------------------------------------
\* VALUES

\* Where a job stands.
Queued == "Queued"
Running == "Running"
RetryWait == "RetryWait"
Cancelling == "Cancelling"
Succeeded == "Succeeded"
Failed == "Failed"
Cancelled == "Cancelled"
Phases == {Queued, Running, RetryWait, Cancelling, Succeeded, Failed, Cancelled}
TerminalPhases == {Succeeded, Failed, Cancelled}

\* An incarnation starts once, dies once, and never comes back.
WorkerUnused == "WorkerUnused"
WorkerUp == "WorkerUp"
WorkerDown == "WorkerDown"
WorkerStates == {WorkerUnused, WorkerUp, WorkerDown}

\* What a worker needs to reach, each on its own.
CoordSvc == "Coordination"
DurableSvc == "Durable"
TargetSvc == "Target"
Services == {CoordSvc, DurableSvc, TargetSvc}

\* A link is cut at most once, which keeps the model finite.
LinkUp == "LinkUp"
LinkDown == "LinkDown"
LinkRecovered == "LinkRecovered"
LinkStates == {LinkUp, LinkDown, LinkRecovered}

\* Where the process of an attempt stands, whatever its authority.
AttemptUnused == "AttemptUnused"
AttemptAuthorized == "AttemptAuthorized"
AttemptExecuting == "AttemptExecuting"
AttemptStopped == "AttemptStopped"
AttemptCommitted == "AttemptCommitted"
AttemptStates == {AttemptUnused, AttemptAuthorized, AttemptExecuting, AttemptStopped, AttemptCommitted}

\* A lease ends for good, unless TwoStores restores it.
NoLease == "NoLease"
LeaseLive == "LeaseLive"
LeaseExpired == "LeaseExpired"
LeaseStates == {NoLease, LeaseLive, LeaseExpired}

\* What an attempt has written to its own stage.
StageNone == "StageNone"
StagePartial == "StagePartial"
StageComplete == "StageComplete"
StageCleaned == "StageCleaned"
StageStates == {StageNone, StagePartial, StageComplete, StageCleaned}

\* The verdict of an attempt, on its way to the durable store.
NoOutcome == "NoOutcome"
WantsSuccess == "WantsSuccess"
WantsFailure == "WantsFailure"
OutcomeRequests == {NoOutcome, WantsSuccess, WantsFailure}

--------------------------------------------------------------------------------
\* ATTEMPTS

\* No attempt.
NoAttempt == [job |-> NoJob, token |-> 0]

\* An attempt is a job and a token. Programs use an opaque id beside the token; tokens of a job only
\* rise and are never reused, so that the bounded model can do without.
AttemptIds == {[job |-> j, token |-> token] : j \in Jobs, token \in 1..MaxAttempts}

AttemptId(j, token) == [job |-> j, token |-> token]

JobOf(a) == a.job

TokenOf(a) == a.token

--------------------------------------------------------------------------------
\* VARIABLES

VARIABLES
  \* Durable: the truth.
  phase, cancelRequested, currentToken, authority, dispatchNeeded, committedAttempt,
  checkpoint, checkpointValid,
  \* Coordination: can be lost and built up again.
  queued, reservation, leaseState, leaseAge, cancelNotice, liveProgress,
  liveProgressAttempt, coordinationLostOnce,
  \* Workers and their links.
  workerState, links,
  \* What processes remember of what they read.
  ticket, dispatchSeen, lostSeen,
  \* Attempts: their processes, stages and verdicts on the way.
  attemptState, attemptWorker, attemptProgress, initialProgress, resumedFromCheckpoint,
  stageState, pendingOutcome

durableVars ==
  <<phase, cancelRequested, currentToken, authority, dispatchNeeded,
    committedAttempt, checkpoint, checkpointValid>>

coordinationVars ==
  <<queued, reservation, leaseState, leaseAge, cancelNotice, liveProgress,
    liveProgressAttempt, coordinationLostOnce>>

memVars ==
  <<ticket, dispatchSeen, lostSeen>>

workerVars ==
  <<workerState, links, ticket, dispatchSeen, lostSeen>>

attemptVars ==
  <<attemptState, attemptWorker, attemptProgress, initialProgress,
    resumedFromCheckpoint, stageState, pendingOutcome>>

vars == <<durableVars, coordinationVars, workerVars, attemptVars>>

--------------------------------------------------------------------------------
\* WORDS USED BELOW

Terminal(j) == phase[j] \in TerminalPhases

CanReach(w, service) == links[w][service] # LinkDown

\* The attempt that may publish: named by its job, under the job's latest token.
CurrentAuthority(a) ==
  /\ authority[JobOf(a)] = a
  /\ currentToken[JobOf(a)] = TokenOf(a)

ReservedJobs == {j \in Jobs : reservation[j] # NoWorker}

LiveLeases == {a \in AttemptIds : leaseState[a] = LeaseLive}

ReservedFor(w) == {j \in Jobs : reservation[j] = w}

LeasedFor(w) == {a \in AttemptIds : leaseState[a] = LeaseLive /\ attemptWorker[a] = w}

\* Zombies count: they really execute.
ExecutingFor(w) == {a \in AttemptIds : attemptState[a] = AttemptExecuting /\ attemptWorker[a] = w}

\* Permits are derived, never counted by hand: places are reservations and live leases.
CapacityAvailable(w) ==
  /\ Cardinality(ReservedJobs) + Cardinality(LiveLeases) < GlobalLimit
  /\ Cardinality(ReservedFor(w)) + Cardinality(ExecutingFor(w)) < LocalLimit

--------------------------------------------------------------------------------
\* THE BEGINNING

\* Every job has been accepted and waits in the outbox; nothing is in coordination yet.
Init ==
  /\ phase = [j \in Jobs |-> Queued]
  /\ cancelRequested = [j \in Jobs |-> FALSE]
  /\ currentToken = [j \in Jobs |-> 0]
  /\ authority = [j \in Jobs |-> NoAttempt]
  /\ dispatchNeeded = [j \in Jobs |-> TRUE]
  /\ committedAttempt = [j \in Jobs |-> NoAttempt]
  /\ checkpoint = [j \in Jobs |-> 0]
  /\ checkpointValid = [j \in Jobs |-> FALSE]
  /\ queued = [j \in Jobs |-> FALSE]
  /\ reservation = [j \in Jobs |-> NoWorker]
  /\ leaseState = [a \in AttemptIds |-> NoLease]
  /\ leaseAge = [a \in AttemptIds |-> 0]
  /\ cancelNotice = [j \in Jobs |-> FALSE]
  /\ liveProgress = [j \in Jobs |-> 0]
  /\ liveProgressAttempt = [j \in Jobs |-> NoAttempt]
  /\ coordinationLostOnce = FALSE
  /\ workerState = [w \in Workers |-> IF w \in InitialWorkers THEN WorkerUp ELSE WorkerUnused]
  /\ links = [w \in Workers |-> [s \in Services |-> LinkUp]]
  /\ ticket = [j \in Jobs |-> {}]
  /\ dispatchSeen = [j \in Jobs |-> FALSE]
  /\ lostSeen = [a \in AttemptIds |-> FALSE]
  /\ attemptState = [a \in AttemptIds |-> AttemptUnused]
  /\ attemptWorker = [a \in AttemptIds |-> NoWorker]
  /\ attemptProgress = [a \in AttemptIds |-> 0]
  /\ initialProgress = [a \in AttemptIds |-> 0]
  /\ resumedFromCheckpoint = [a \in AttemptIds |-> FALSE]
  /\ stageState = [a \in AttemptIds |-> StageNone]
  /\ pendingOutcome = [a \in AttemptIds |-> NoOutcome]

--------------------------------------------------------------------------------
\* ACTIONS

\* A dispatcher reads a job as dispatchable. A read of durable, driven by the dispatcher; TwoStores
\* only.
\*
\* What it saw may be old when Enqueue acts on it.
DispatchRead(j) ==
  /\ phase[j] = Queued
  /\ dispatchNeeded[j]
  /\ ~dispatchSeen[j]
  /\ dispatchSeen' = [dispatchSeen EXCEPT ![j] = TRUE]
  /\ UNCHANGED <<durableVars, coordinationVars, workerState, links, ticket, lostSeen,
                  attemptVars>>

\* The outbox's row becomes a queue entry. Coordination, driven by the dispatcher.
\*
\* Promises that a job is queued at most once and not beside a reservation of its own. Does not promise
\* that the job is still dispatchable: that was read earlier and may have turned false; the claim finds
\* out. Duplicate dispatch changes nothing.
Enqueue(j) ==
  /\ dispatchSeen[j]
  /\ dispatchSeen' = [dispatchSeen EXCEPT ![j] = FALSE]
  /\ queued' = [queued EXCEPT ![j] = IF ~queued[j] /\ reservation[j] = NoWorker THEN TRUE ELSE @]
  /\ UNCHANGED <<durableVars, reservation, leaseState, leaseAge, cancelNotice, liveProgress,
                  liveProgressAttempt, coordinationLostOnce>>
  /\ UNCHANGED <<workerState, links, ticket, lostSeen, attemptVars>>

\* A queue entry becomes a permit of one worker. Coordination, driven by the worker.
\*
\* Promises that the limits hold. A permit is not authority. The worker's own limit counts what really
\* executes, zombies too, which coordination cannot see: the worker asks only while its slots are free.
Reserve(j, w) ==
  /\ queued[j]
  /\ reservation[j] = NoWorker
  /\ workerState[w] = WorkerUp
  /\ CanReach(w, CoordSvc)
  /\ CapacityAvailable(w)
  /\ queued' = [queued EXCEPT ![j] = FALSE]
  /\ reservation' = [reservation EXCEPT ![j] = w]
  /\ UNCHANGED durableVars
  /\ UNCHANGED <<leaseState, leaseAge, cancelNotice, liveProgress, liveProgressAttempt,
                  coordinationLostOnce>>
  /\ ticket' = [ticket EXCEPT ![j] = @ \cup {w}]
  /\ UNCHANGED <<workerState, links, dispatchSeen, lostSeen>>
  /\ UNCHANGED attemptVars

\* The claim: allocates the next attempt and its token. Durable, driven by the worker.
\*
\* Promises that a token is given once and that it spends the job's budget, even if the worker is lost
\* before it executes. Does not know whether the reservation still stands; a worker that remembers one
\* may be late.
AuthorizeAttempt(j, w) ==
  LET a == AttemptId(j, currentToken[j] + 1) IN
  /\ phase[j] = Queued
  /\ dispatchNeeded[j]
  /\ w \in ticket[j]
  /\ workerState[w] = WorkerUp
  /\ CanReach(w, DurableSvc)
  /\ currentToken[j] < MaxAttempts
  /\ attemptState[a] = AttemptUnused
  /\ phase' = [phase EXCEPT ![j] = Running]
  /\ currentToken' = [currentToken EXCEPT ![j] = @ + 1]
  /\ authority' = [authority EXCEPT ![j] = a]
  /\ dispatchNeeded' = [dispatchNeeded EXCEPT ![j] = FALSE]
  /\ attemptState' = [attemptState EXCEPT ![a] = AttemptAuthorized]
  /\ attemptWorker' = [attemptWorker EXCEPT ![a] = w]
  /\ attemptProgress' = [attemptProgress EXCEPT ![a] = IF checkpointValid[j] THEN checkpoint[j]
        ELSE 0]
  /\ initialProgress' = [initialProgress EXCEPT ![a] = IF checkpointValid[j] THEN checkpoint[j]
        ELSE 0]
  /\ resumedFromCheckpoint' = [resumedFromCheckpoint EXCEPT ![a] = checkpointValid[j] /\ checkpoint[j] > 0]
  /\ stageState' = [stageState EXCEPT ![a] = IF ~checkpointValid[j] \/ checkpoint[j] = 0
        THEN StageNone ELSE IF checkpoint[j] = MaxProgress THEN StageComplete ELSE StagePartial]
  /\ UNCHANGED <<cancelRequested, committedAttempt, checkpoint, checkpointValid>>
  /\ UNCHANGED coordinationVars
  /\ ticket' = [ticket EXCEPT ![j] = @ \ {w}]
  /\ UNCHANGED <<workerState, links, dispatchSeen, lostSeen>>
  /\ UNCHANGED pendingOutcome

\* A worker whose claim was refused hands its permit back. Coordination, driven by the worker;
\* TwoStores only.
\*
\* One of the two hand-back rules without which nobody may be able to move. Takes back only its own
\* permit.
ClaimRefused(j, w) ==
  /\ w \in ticket[j]
  /\ workerState[w] = WorkerUp
  /\ CanReach(w, DurableSvc) /\ CanReach(w, CoordSvc)
  /\ ~(phase[j] = Queued /\ dispatchNeeded[j] /\ currentToken[j] < MaxAttempts)
  /\ ticket' = [ticket EXCEPT ![j] = @ \ {w}]
  /\ reservation' = [reservation EXCEPT ![j] = IF @ = w THEN NoWorker ELSE @]
  /\ UNCHANGED <<queued, leaseState, leaseAge, cancelNotice, liveProgress,
                  liveProgressAttempt, coordinationLostOnce>>
  /\ UNCHANGED <<durableVars, workerState, links, dispatchSeen, lostSeen, attemptVars>>

\* The permit becomes a lease, the attempt executes. Coordination, driven by the worker.
\*
\* Promises one lease per permit. Authority may turn false before it: that makes a zombie with a lease,
\* which can publish nothing and whose lease ReleaseLease ends.
ActivateAttempt(a) ==
  LET j == JobOf(a)
      w == attemptWorker[a] IN
  /\ attemptState[a] = AttemptAuthorized
  /\ reservation[j] = w
  /\ workerState[w] = WorkerUp
  /\ CanReach(w, CoordSvc)
  /\ reservation' = [reservation EXCEPT ![j] = NoWorker]
  /\ leaseState' = [leaseState EXCEPT ![a] = LeaseLive]
  /\ leaseAge' = [leaseAge EXCEPT ![a] = 0]
  /\ liveProgress' = [liveProgress EXCEPT ![j] = attemptProgress[a]]
  /\ liveProgressAttempt' = [liveProgressAttempt EXCEPT ![j] = a]
  /\ attemptState' = [attemptState EXCEPT ![a] = AttemptExecuting]
  /\ UNCHANGED durableVars
  /\ UNCHANGED <<queued, cancelNotice, coordinationLostOnce>>
  /\ UNCHANGED workerVars
  /\ UNCHANGED <<attemptWorker, attemptProgress, initialProgress, resumedFromCheckpoint,
                  stageState, pendingOutcome>>

\* A worker whose activation was refused stops the attempt it had claimed. Worker memory, driven by the
\* worker; TwoStores only.
\*
\* The other hand-back rule. The attempt's reaping is then driven by its own worker.
ActivateRefused(a) ==
  LET j == JobOf(a)
      w == attemptWorker[a] IN
  /\ attemptState[a] = AttemptAuthorized
  /\ reservation[j] # w
  /\ workerState[w] = WorkerUp
  /\ CanReach(w, CoordSvc)
  /\ attemptState' = [attemptState EXCEPT ![a] = AttemptStopped]
  /\ UNCHANGED <<durableVars, coordinationVars, workerVars>>
  /\ UNCHANGED <<attemptWorker, attemptProgress, initialProgress, resumedFromCheckpoint,
                  stageState, pendingOutcome>>

\* The lease is young again. Coordination, driven by the worker's lease keeper.
\*
\* Asks nothing of durable: a zombie may renew until it is told. Does not revive a lease that has
\* ended.
RenewLease(a) ==
  LET w == attemptWorker[a] IN
  /\ leaseState[a] = LeaseLive
  /\ leaseAge[a] > 0
  /\ workerState[w] = WorkerUp
  /\ CanReach(w, CoordSvc)
  /\ leaseAge' = [leaseAge EXCEPT ![a] = 0]
  /\ UNCHANGED durableVars
  /\ UNCHANGED <<queued, reservation, leaseState, cancelNotice, liveProgress,
                  liveProgressAttempt, coordinationLostOnce>>
  /\ UNCHANGED workerVars
  /\ UNCHANGED attemptVars

\* A lease is put back after a loss. Coordination, driven by the worker; TwoStores only.
\*
\* Running work survives a loss that is repaired within the worker's trust window. Authority was read a
\* moment earlier and may have turned false; ReleaseLease ends a lease restored too late.
RestoreLease(a) ==
  LET j == JobOf(a)
      w == attemptWorker[a] IN
  /\ coordinationLostOnce
  /\ attemptState[a] = AttemptExecuting
  /\ leaseState[a] = LeaseExpired
  /\ workerState[w] = WorkerUp
  /\ CanReach(w, CoordSvc)
  /\ Cardinality(ReservedJobs) + Cardinality(LiveLeases) < GlobalLimit
  /\ leaseState' = [leaseState EXCEPT ![a] = LeaseLive]
  /\ leaseAge' = [leaseAge EXCEPT ![a] = 0]
  /\ liveProgress' = [liveProgress EXCEPT ![j] = attemptProgress[a]]
  /\ liveProgressAttempt' = [liveProgressAttempt EXCEPT ![j] = a]
  /\ UNCHANGED <<queued, reservation, cancelNotice, coordinationLostOnce>>
  /\ UNCHANGED durableVars
  /\ UNCHANGED workerVars
  /\ UNCHANGED attemptVars

\* Time passes for every live lease below the limit. Driven by the world.
\*
\* Real durations refine this bounded age.
Tick ==
  /\ \E a \in AttemptIds : leaseState[a] = LeaseLive /\ leaseAge[a] < LeaseLimit
  /\ leaseAge' = [a \in AttemptIds |-> IF leaseState[a] = LeaseLive /\ leaseAge[a] < LeaseLimit
        THEN leaseAge[a] + 1 ELSE leaseAge[a]]
  /\ UNCHANGED durableVars
  /\ UNCHANGED <<queued, reservation, leaseState, cancelNotice, liveProgress,
                  liveProgressAttempt, coordinationLostOnce>>
  /\ UNCHANGED workerVars
  /\ UNCHANGED attemptVars

\* A lease that was not renewed ends. Coordination, driven by the reaper.
\*
\* Promises only that the place is free again. That the attempt does not execute any more is not known:
\* time is no proof of death.
ExpireLease(a) ==
  LET j == JobOf(a) IN
  /\ leaseState[a] = LeaseLive
  /\ leaseAge[a] = LeaseLimit
  /\ leaseState' = [leaseState EXCEPT ![a] = LeaseExpired]
  /\ leaseAge' = [leaseAge EXCEPT ![a] = 0]
  /\ liveProgress' = [liveProgress EXCEPT ![j] = IF liveProgressAttempt[j] = a THEN 0 ELSE @]
  /\ liveProgressAttempt' = [liveProgressAttempt EXCEPT ![j] = IF @ = a THEN NoAttempt ELSE @]
  /\ UNCHANGED durableVars
  /\ UNCHANGED <<queued, reservation, cancelNotice, coordinationLostOnce>>
  /\ UNCHANGED workerVars
  /\ UNCHANGED attemptVars

\* Everything in coordination is gone. Driven by the world.
\*
\* Durable state and processes stay. Happens once in the model, so that it ends; as often as it happens
\* in the audit.
LoseCoordinationState ==
  /\ FaultsEnabled
  /\ CoordSvc \in FaultServices
  /\ ~coordinationLostOnce
  /\ queued' = [j \in Jobs |-> FALSE]
  /\ reservation' = [j \in Jobs |-> NoWorker]
  /\ leaseState' = [a \in AttemptIds |-> IF leaseState[a] = LeaseLive THEN LeaseExpired
        ELSE leaseState[a]]
  /\ leaseAge' = [a \in AttemptIds |-> 0]
  /\ cancelNotice' = [j \in Jobs |-> FALSE]
  /\ liveProgress' = [j \in Jobs |-> 0]
  /\ liveProgressAttempt' = [j \in Jobs |-> NoAttempt]
  /\ coordinationLostOnce' = TRUE
  /\ UNCHANGED durableVars
  /\ UNCHANGED workerVars
  /\ UNCHANGED attemptVars

\* A worker can no longer reach a service. Driven by the world.
\*
\* Each link is cut once in the model; a cut link says nothing about the other two.
DropLink(w, service) ==
  /\ FaultsEnabled
  /\ service \in FaultServices
  /\ workerState[w] = WorkerUp
  /\ links[w][service] = LinkUp
  /\ links' = [links EXCEPT ![w][service] = LinkDown]
  /\ UNCHANGED durableVars
  /\ UNCHANGED coordinationVars
  /\ UNCHANGED <<workerState, memVars>>
  /\ UNCHANGED attemptVars

\* A worker can reach a service again. Driven by the world.
\*
\* The model assumes that it comes (weak fairness); nothing of safety rests on it.
RestoreLink(w, service) ==
  /\ links[w][service] = LinkDown
  /\ links' = [links EXCEPT ![w][service] = LinkRecovered]
  /\ UNCHANGED durableVars
  /\ UNCHANGED coordinationVars
  /\ UNCHANGED <<workerState, memVars>>
  /\ UNCHANGED attemptVars

\* A worker process dies, and with it what it executes and remembers. Driven by the world.
\*
\* Leaves its lease, its permit and its stage behind for others to clear.
CrashWorker(w) ==
  /\ FaultsEnabled
  /\ workerState[w] = WorkerUp
  /\ workerState' = [workerState EXCEPT ![w] = WorkerDown]
  /\ attemptState' = [a \in AttemptIds |-> IF attemptWorker[a] = w /\ attemptState[a] \in {AttemptAuthorized, AttemptExecuting}
        THEN AttemptStopped ELSE attemptState[a]]
  /\ UNCHANGED durableVars
  /\ UNCHANGED coordinationVars
  /\ ticket' = [j \in Jobs |-> ticket[j] \ {w}]
  /\ UNCHANGED <<links, dispatchSeen, lostSeen>>
  /\ UNCHANGED <<attemptWorker, attemptProgress, initialProgress, resumedFromCheckpoint,
                  stageState, pendingOutcome>>

\* A worker process starts, under a new incarnation. Worker memory, driven by the supervisor.
\*
\* An incarnation is never used again: a restarted process renews nothing of the dead one.
StartIncarnation(w) ==
  /\ workerState[w] = WorkerUnused
  /\ workerState' = [workerState EXCEPT ![w] = WorkerUp]
  /\ UNCHANGED durableVars
  /\ UNCHANGED coordinationVars
  /\ UNCHANGED <<links, memVars>>
  /\ UNCHANGED attemptVars

\* A permit nobody will use is taken back. Coordination, driven by the reaper and the worker.
\*
\* What makes it useless stays true, but the permit judged must be the one taken back: compare it
\* exactly.
ReleaseReservation(j) ==
  LET w == reservation[j] IN
  /\ w # NoWorker
  /\ \/ Terminal(j) \/ phase[j] = Cancelling \/ workerState[w] # WorkerUp
     \/ (authority[j] # NoAttempt /\ attemptState[authority[j]] # AttemptAuthorized)
  /\ reservation' = [reservation EXCEPT ![j] = NoWorker]
  /\ UNCHANGED durableVars
  /\ UNCHANGED <<queued, leaseState, leaseAge, cancelNotice, liveProgress,
                  liveProgressAttempt, coordinationLostOnce>>
  /\ UNCHANGED workerVars
  /\ UNCHANGED attemptVars

\* The permit of a live worker is dropped by age. Coordination, driven by a permit's deadline;
\* TwoStores only.
\*
\* A failure detector may be wrong: safe, and at most an attempt is spent. Once in the model.
FalseSuspicion(j) ==
  /\ FaultsEnabled
  /\ reservation[j] # NoWorker
  /\ coordinationLostOnce = FALSE
  /\ coordinationLostOnce' = TRUE
  /\ reservation' = [reservation EXCEPT ![j] = NoWorker]
  /\ UNCHANGED durableVars
  /\ UNCHANGED <<queued, leaseState, leaseAge, cancelNotice, liveProgress,
                  liveProgressAttempt>>
  /\ UNCHANGED workerVars
  /\ UNCHANGED attemptVars

\* A reaper sees an attempt without lease or permit. A read of coordination, driven by the reaper;
\* TwoStores only.
\*
\* Judges what can be seen: no live lease of this attempt, and no reservation held by its own worker.
\* Another worker's reservation of the same job says nothing.
ReapObserve(a) ==
  LET j == JobOf(a) IN
  /\ ~lostSeen[a]
  /\ CurrentAuthority(a)
  /\ leaseState[a] # LeaseLive
  /\ reservation[j] # attemptWorker[a]
  /\ lostSeen' = [lostSeen EXCEPT ![a] = TRUE]
  /\ UNCHANGED <<durableVars, coordinationVars, workerState, links, ticket, dispatchSeen,
                  attemptVars>>

\* Authority of a lost attempt is revoked. Durable, driven by the reaper.
\*
\* Promises that only the attempt judged loses it. Does not stop the process, which may be a zombie
\* from here on. In Remora it reads both stores at once; in TwoStores it acts on what ReapObserve saw.
ReapLostAttempt(a) ==
  LET j == JobOf(a) IN
  /\ lostSeen[a]
  /\ CurrentAuthority(a)
  /\ phase[j] = Running
  /\ phase' = [phase EXCEPT ![j] = IF currentToken[j] < MaxAttempts THEN RetryWait ELSE Failed]
  /\ authority' = [authority EXCEPT ![j] = NoAttempt]
  /\ lostSeen' = [lostSeen EXCEPT ![a] = FALSE]
  /\ UNCHANGED <<cancelRequested, currentToken, dispatchNeeded, committedAttempt,
                  checkpoint, checkpointValid>>
  /\ UNCHANGED coordinationVars
  /\ UNCHANGED <<workerState, links, ticket, dispatchSeen>>
  /\ UNCHANGED attemptVars

\* A job whose retry is due is queued again. Durable, driven by the retry scheduler.
\*
\* When it is due is not the spec's matter: the room adds that guard on its own clock.
ScheduleRetry(j) ==
  /\ phase[j] = RetryWait
  /\ phase' = [phase EXCEPT ![j] = Queued]
  /\ dispatchNeeded' = [dispatchNeeded EXCEPT ![j] = TRUE]
  /\ UNCHANGED <<cancelRequested, currentToken, authority, committedAttempt, checkpoint,
                  checkpointValid>>
  /\ UNCHANGED coordinationVars
  /\ UNCHANGED workerVars
  /\ UNCHANGED attemptVars

\* From here on nothing of the job will be published. Durable, driven by the API.
\*
\* Ends a job that no attempt has authority over at once; otherwise the attempt is told.
RequestCancel(j) ==
  /\ phase[j] \in {Queued, Running, RetryWait}
  /\ cancelRequested' = [cancelRequested EXCEPT ![j] = TRUE]
  /\ phase' = [phase EXCEPT ![j] = IF phase[j] = Running THEN Cancelling ELSE Cancelled]
  /\ authority' = [authority EXCEPT ![j] = IF phase[j] = Running THEN @ ELSE NoAttempt]
  /\ dispatchNeeded' = [dispatchNeeded EXCEPT ![j] = FALSE]
  /\ UNCHANGED <<currentToken, committedAttempt, checkpoint, checkpointValid>>
  /\ UNCHANGED coordinationVars
  /\ UNCHANGED workerVars
  /\ UNCHANGED attemptVars

\* The attempt of a cancelling job loses its authority. Durable, driven by the worker and the
\* canceller.
\*
\* Cancelled means that publication is forbidden, not that the process is quiet.
FinalizeCancel(j) ==
  /\ phase[j] = Cancelling
  /\ phase' = [phase EXCEPT ![j] = Cancelled]
  /\ authority' = [authority EXCEPT ![j] = NoAttempt]
  /\ UNCHANGED <<cancelRequested, currentToken, dispatchNeeded, committedAttempt,
                  checkpoint, checkpointValid>>
  /\ UNCHANGED coordinationVars
  /\ UNCHANGED workerVars
  /\ UNCHANGED attemptVars

\* The worker is told of a cancel. Coordination, driven by the canceller.
\*
\* A request for cancel stays, so the notice is never wrong.
PublishCancelNotice(j) ==
  /\ cancelRequested[j]
  /\ ~cancelNotice[j]
  /\ cancelNotice' = [cancelNotice EXCEPT ![j] = TRUE]
  /\ UNCHANGED durableVars
  /\ UNCHANGED <<queued, reservation, leaseState, leaseAge, liveProgress,
                  liveProgressAttempt, coordinationLostOnce>>
  /\ UNCHANGED workerVars
  /\ UNCHANGED attemptVars

\* The attempt's process tree is ended. Worker memory, driven by the worker.
\*
\* Any one of four signals suffices: the lease has ended, a notice, the cancel read in durable,
\* authority lost.
CooperativeStop(a) ==
  LET j == JobOf(a)
      w == attemptWorker[a] IN
  /\ attemptState[a] = AttemptExecuting
  /\ (leaseState[a] = LeaseExpired \/ cancelNotice[j]
        \/ (CanReach(w, DurableSvc) /\ cancelRequested[j]) \/ ~CurrentAuthority(a))
  /\ attemptState' = [attemptState EXCEPT ![a] = AttemptStopped]
  /\ UNCHANGED durableVars
  /\ UNCHANGED coordinationVars
  /\ UNCHANGED workerVars
  /\ UNCHANGED <<attemptWorker, attemptProgress, initialProgress, resumedFromCheckpoint,
                  stageState, pendingOutcome>>

\* The lease of an attempt that needs none any more is given back. Coordination, driven by the worker
\* and the reaper.
\*
\* What makes it useless stays true. It also ends a lease that was restored or activated too late.
ReleaseLease(a) ==
  LET j == JobOf(a) IN
  /\ leaseState[a] = LeaseLive
  /\ (attemptState[a] \in {AttemptStopped, AttemptCommitted} \/ ~CurrentAuthority(a) \/ Terminal(j))
  /\ leaseState' = [leaseState EXCEPT ![a] = LeaseExpired]
  /\ leaseAge' = [leaseAge EXCEPT ![a] = 0]
  /\ liveProgress' = [liveProgress EXCEPT ![j] = IF liveProgressAttempt[j] = a THEN 0 ELSE @]
  /\ liveProgressAttempt' = [liveProgressAttempt EXCEPT ![j] = IF @ = a THEN NoAttempt ELSE @]
  /\ UNCHANGED durableVars
  /\ UNCHANGED <<queued, reservation, cancelNotice, coordinationLostOnce>>
  /\ UNCHANGED workerVars
  /\ UNCHANGED attemptVars

\* What coordination still holds of a terminal job goes away. Coordination, driven by the cleaner.
\*
\* Leases are not its matter: ReleaseLease ends them, since a zombie may still execute under one.
CleanTerminalCoordination(j) ==
  /\ Terminal(j)
  /\ (queued[j] \/ reservation[j] # NoWorker \/ cancelNotice[j] \/ liveProgress[j] # 0
        \/ liveProgressAttempt[j] # NoAttempt)
  /\ queued' = [queued EXCEPT ![j] = FALSE]
  /\ reservation' = [reservation EXCEPT ![j] = NoWorker]
  /\ cancelNotice' = [cancelNotice EXCEPT ![j] = FALSE]
  /\ liveProgress' = [liveProgress EXCEPT ![j] = 0]
  /\ liveProgressAttempt' = [liveProgressAttempt EXCEPT ![j] = NoAttempt]
  /\ UNCHANGED durableVars
  /\ UNCHANGED <<leaseState, leaseAge, coordinationLostOnce>>
  /\ UNCHANGED workerVars
  /\ UNCHANGED attemptVars

\* The attempt writes to its own stage. Target, driven by the handler.
\*
\* Asks for no authority: zombies may write, that is the point. Isolation by attempt keeps it harmless.
AdvanceAttempt(a, amount) ==
  LET w == attemptWorker[a] IN
  /\ attemptState[a] = AttemptExecuting
  /\ workerState[w] = WorkerUp
  /\ CanReach(w, TargetSvc)
  /\ amount \in 1..MaxProgress
  /\ amount > attemptProgress[a]
  /\ attemptProgress' = [attemptProgress EXCEPT ![a] = amount]
  /\ stageState' = [stageState EXCEPT ![a] = IF amount = MaxProgress THEN StageComplete
        ELSE StagePartial]
  /\ UNCHANGED durableVars
  /\ UNCHANGED coordinationVars
  /\ UNCHANGED workerVars
  /\ UNCHANGED <<attemptState, attemptWorker, initialProgress, resumedFromCheckpoint,
                  pendingOutcome>>

\* State and output so far become what the next attempt starts from. Durable, driven by the worker.
\*
\* Promises that only the current authority can. The progress it names was sealed in the target before.
PersistCheckpoint(a) ==
  LET j == JobOf(a)
      w == attemptWorker[a] IN
  /\ CurrentAuthority(a)
  /\ phase[j] = Running
  /\ attemptState[a] = AttemptExecuting
  /\ workerState[w] = WorkerUp
  /\ CanReach(w, DurableSvc)
  /\ attemptProgress[a] > 0
  /\ (~checkpointValid[j] \/ checkpoint[j] # attemptProgress[a])
  /\ checkpoint' = [checkpoint EXCEPT ![j] = attemptProgress[a]]
  /\ checkpointValid' = [checkpointValid EXCEPT ![j] = TRUE]
  /\ UNCHANGED <<phase, cancelRequested, currentToken, authority, dispatchNeeded,
                  committedAttempt>>
  /\ UNCHANGED coordinationVars
  /\ UNCHANGED workerVars
  /\ UNCHANGED attemptVars

\* A checkpoint that failed verification is never used again. Durable, driven by the worker and the
\* operator.
\*
\* Does not touch an attempt that has started from it. The room adds the revision that was judged.
InvalidateCheckpoint(j) ==
  /\ ~Terminal(j)
  /\ checkpointValid[j]
  /\ checkpointValid' = [checkpointValid EXCEPT ![j] = FALSE]
  /\ UNCHANGED <<phase, cancelRequested, currentToken, authority, dispatchNeeded,
                  committedAttempt, checkpoint>>
  /\ UNCHANGED coordinationVars
  /\ UNCHANGED workerVars
  /\ UNCHANGED attemptVars

\* Progress that people see. Coordination, driven by the worker; display only.
\*
\* Authority may have turned false; what is shown goes away with the lease.
ReportProgress(a) ==
  LET j == JobOf(a)
      w == attemptWorker[a] IN
  /\ leaseState[a] = LeaseLive
  /\ attemptState[a] = AttemptExecuting
  /\ workerState[w] = WorkerUp
  /\ CanReach(w, CoordSvc)
  /\ (liveProgress[j] # attemptProgress[a] \/ liveProgressAttempt[j] # a)
  /\ liveProgress' = [liveProgress EXCEPT ![j] = attemptProgress[a]]
  /\ liveProgressAttempt' = [liveProgressAttempt EXCEPT ![j] = a]
  /\ UNCHANGED durableVars
  /\ UNCHANGED <<queued, reservation, leaseState, leaseAge, cancelNotice,
                  coordinationLostOnce>>
  /\ UNCHANGED workerVars
  /\ UNCHANGED attemptVars

\* The attempt's verdict is on its way. Worker memory, driven by the worker.
\*
\* Sending and deciding are two steps, so that a verdict may arrive late and stale.
SendOutcome(a, outcome) ==
  LET w == attemptWorker[a] IN
  /\ outcome \in {WantsSuccess, WantsFailure}
  /\ attemptState[a] = AttemptExecuting
  /\ pendingOutcome[a] = NoOutcome
  /\ workerState[w] = WorkerUp
  /\ CanReach(w, DurableSvc)
  /\ (outcome = WantsFailure \/ stageState[a] = StageComplete)
  /\ pendingOutcome' = [pendingOutcome EXCEPT ![a] = outcome]
  /\ UNCHANGED durableVars
  /\ UNCHANGED coordinationVars
  /\ UNCHANGED workerVars
  /\ UNCHANGED <<attemptState, attemptWorker, attemptProgress, initialProgress,
                  resumedFromCheckpoint, stageState>>

\* A verdict of success that may be accepted.
CommitEligible(a) ==
  LET j == JobOf(a) IN
  /\ pendingOutcome[a] = WantsSuccess
  /\ CurrentAuthority(a)
  /\ phase[j] = Running
  /\ ~cancelRequested[j]
  /\ stageState[a] = StageComplete

\* A verdict of failure that may be accepted.
FailureEligible(a) ==
  LET j == JobOf(a) IN
  /\ pendingOutcome[a] = WantsFailure
  /\ CurrentAuthority(a)
  /\ phase[j] = Running
  /\ ~cancelRequested[j]

\* The one compare-and-swap that publishes. Durable, driven by the worker's outcome.
\*
\* Promises that a result becomes the job's only by the current authority, before any cancel, and
\* whole. Does not look at leases: an attempt that has lost its lease but not its authority may still
\* commit.
AcceptSuccess(a) ==
  LET j == JobOf(a) IN
  /\ CommitEligible(a)
  /\ phase' = [phase EXCEPT ![j] = Succeeded]
  /\ authority' = [authority EXCEPT ![j] = NoAttempt]
  /\ committedAttempt' = [committedAttempt EXCEPT ![j] = a]
  /\ checkpoint' = [checkpoint EXCEPT ![j] = MaxProgress]
  /\ checkpointValid' = [checkpointValid EXCEPT ![j] = TRUE]
  /\ attemptState' = [attemptState EXCEPT ![a] = AttemptCommitted]
  /\ pendingOutcome' = [pendingOutcome EXCEPT ![a] = NoOutcome]
  /\ UNCHANGED <<cancelRequested, currentToken, dispatchNeeded>>
  /\ UNCHANGED coordinationVars
  /\ UNCHANGED workerVars
  /\ UNCHANGED <<attemptWorker, attemptProgress, initialProgress, resumedFromCheckpoint,
                  stageState>>

\* The attempt failed; the job retries or fails. Durable, driven by the worker's outcome.
\*
\* Spends no budget: the claim did. When the next attempt is due is the retry policy's matter.
AcceptFailure(a) ==
  LET j == JobOf(a) IN
  /\ FailureEligible(a)
  /\ phase' = [phase EXCEPT ![j] = IF currentToken[j] < MaxAttempts THEN RetryWait ELSE Failed]
  /\ authority' = [authority EXCEPT ![j] = NoAttempt]
  /\ attemptState' = [attemptState EXCEPT ![a] = AttemptStopped]
  /\ pendingOutcome' = [pendingOutcome EXCEPT ![a] = NoOutcome]
  /\ UNCHANGED <<cancelRequested, currentToken, dispatchNeeded, committedAttempt,
                  checkpoint, checkpointValid>>
  /\ UNCHANGED coordinationVars
  /\ UNCHANGED workerVars
  /\ UNCHANGED <<attemptWorker, attemptProgress, initialProgress, resumedFromCheckpoint,
                  stageState>>

\* The refused answer to an outcome. Durable, driven by the worker's outcome: the same statement as the
\* two that accept.
\*
\* Promises that a verdict that cannot be accepted changes nothing; the worker learns the guard that
\* refused it.
RejectOutcome(a) ==
  /\ pendingOutcome[a] # NoOutcome
  /\ ~CommitEligible(a)
  /\ ~FailureEligible(a)
  /\ pendingOutcome' = [pendingOutcome EXCEPT ![a] = NoOutcome]
  /\ UNCHANGED durableVars
  /\ UNCHANGED coordinationVars
  /\ UNCHANGED workerVars
  /\ UNCHANGED <<attemptState, attemptWorker, attemptProgress, initialProgress,
                  resumedFromCheckpoint, stageState>>

\* What a dead attempt wrote and nobody refers to is deleted. Target, driven by the cleaner.
\*
\* In Remora the attempt has stopped; in TwoStores its death is presumed, and a wrong presumption is
\* harmless, because what an attempt without authority wrote can never be published.
CleanupStage(a) ==
  LET j == JobOf(a) IN
  /\ stageState[a] \in {StagePartial, StageComplete}
  /\ committedAttempt[j] # a
  /\ ~CurrentAuthority(a)
  /\ stageState' = [stageState EXCEPT ![a] = StageCleaned]
  /\ UNCHANGED durableVars
  /\ UNCHANGED coordinationVars
  /\ UNCHANGED workerVars
  /\ UNCHANGED <<attemptState, attemptWorker, attemptProgress, initialProgress,
                  resumedFromCheckpoint, pendingOutcome>>

--------------------------------------------------------------------------------
\* BEHAVIOURS

\* Fairness binds whoever can do it, not one worker by name.
ReserveJob(j) == \E w \in Workers : Reserve(j, w)

AuthorizeJob(j) == \E w \in Workers : AuthorizeAttempt(j, w)

ActivateJob(j) == \E a \in AttemptIds : JobOf(a) = j
  /\ ActivateAttempt(a)

ExecuteJob(j) == \E a \in AttemptIds : /\ JobOf(a) = j
  /\ (SendOutcome(a, WantsFailure) \/ SendOutcome(a, WantsSuccess)
        \/ \E amount \in 1..MaxProgress : AdvanceAttempt(a, amount))

ProcessOutcome(a) == AcceptSuccess(a) \/ AcceptFailure(a) \/ RejectOutcome(a)

ReapJob(j) == \E a \in AttemptIds : JobOf(a) = j
  /\ (ReapObserve(a) \/ ReapLostAttempt(a))

\* One step of anybody.
Next ==
  \/ \E j \in Jobs : DispatchRead(j) \/ Enqueue(j) \/ FalseSuspicion(j)
  \/ \E j \in Jobs, w \in Workers : ClaimRefused(j, w)
  \/ \E a \in AttemptIds : ActivateRefused(a) \/ ReapObserve(a) \/ RestoreLease(a)
  \/ \E j \in Jobs, w \in Workers : Reserve(j, w)
  \/ \E j \in Jobs, w \in Workers : AuthorizeAttempt(j, w)
  \/ \E a \in AttemptIds : ActivateAttempt(a)
  \/ \E a \in AttemptIds : RenewLease(a)
  \/ Tick
  \/ \E a \in AttemptIds : ExpireLease(a)
  \/ LoseCoordinationState
  \/ \E w \in Workers, s \in Services : DropLink(w, s)
  \/ \E w \in Workers, s \in Services : RestoreLink(w, s)
  \/ \E w \in Workers : CrashWorker(w)
  \/ \E w \in Workers : StartIncarnation(w)
  \/ \E j \in Jobs : ReleaseReservation(j)
  \/ \E a \in AttemptIds : ReapLostAttempt(a)
  \/ \E j \in Jobs : ScheduleRetry(j)
  \/ \E j \in Jobs : RequestCancel(j)
  \/ \E j \in Jobs : FinalizeCancel(j)
  \/ \E j \in Jobs : PublishCancelNotice(j)
  \/ \E a \in AttemptIds : CooperativeStop(a)
  \/ \E a \in AttemptIds : ReleaseLease(a)
  \/ \E j \in Jobs : CleanTerminalCoordination(j)
  \/ \E a \in AttemptIds, n \in 1..MaxProgress : AdvanceAttempt(a, n)
  \/ \E a \in AttemptIds : PersistCheckpoint(a)
  \/ \E j \in Jobs : InvalidateCheckpoint(j)
  \/ \E a \in AttemptIds : ReportProgress(a)
  \/ \E a \in AttemptIds, o \in {WantsSuccess, WantsFailure} : SendOutcome(a, o)
  \/ \E a \in AttemptIds : AcceptSuccess(a)
  \/ \E a \in AttemptIds : AcceptFailure(a)
  \/ \E a \in AttemptIds : RejectOutcome(a)
  \/ \E a \in AttemptIds : CleanupStage(a)

\* What agents and workers are bound to do in the end. Nobody is bound to cancel, to report progress,
\* to checkpoint or to break anything. SF where a step may be possible only now and again.
Fairness ==
  /\ \A j \in Jobs : SF_vars(DispatchRead(j))
  /\ \A j \in Jobs : WF_vars(Enqueue(j))
  /\ \A j \in Jobs, w \in Workers : SF_vars(ClaimRefused(j, w))
  /\ \A a \in AttemptIds : SF_vars(ActivateRefused(a))
  /\ \A j \in Jobs : SF_vars(ReserveJob(j))
  /\ \A j \in Jobs : SF_vars(AuthorizeJob(j))
  /\ \A j \in Jobs : SF_vars(ActivateJob(j))
  /\ \A j \in Jobs : SF_vars(ExecuteJob(j))
  /\ \A a \in AttemptIds : WF_vars(ProcessOutcome(a))
  /\ \A a \in AttemptIds : WF_vars(ExpireLease(a))
  /\ \A a \in AttemptIds : WF_vars(CooperativeStop(a))
  /\ \A a \in AttemptIds : WF_vars(ReleaseLease(a))
  /\ \A a \in AttemptIds : WF_vars(CleanupStage(a))
  /\ \A j \in Jobs : WF_vars(ReleaseReservation(j))
  /\ \A j \in Jobs : WF_vars(ReapJob(j))
  /\ \A j \in Jobs : WF_vars(ScheduleRetry(j))
  /\ \A j \in Jobs : WF_vars(FinalizeCancel(j))
  /\ \A j \in Jobs : WF_vars(PublishCancelNotice(j))
  /\ \A j \in Jobs : WF_vars(CleanTerminalCoordination(j))
  /\ \A w \in Workers, s \in Services : WF_vars(RestoreLink(w, s))
  /\ \A w \in Workers : WF_vars(StartIncarnation(w))
  /\ WF_vars(Tick)

\* Safety needs no fairness.
SafetySpec == Init
  /\ [][Next]_vars

Spec == SafetySpec
  /\ Fairness

--------------------------------------------------------------------------------
\* INVARIANTS OF EVERY STATE

\* Every variable stays in its range.
TypeOK ==
  /\ phase \in [Jobs -> Phases]
  /\ cancelRequested \in [Jobs -> BOOLEAN]
  /\ currentToken \in [Jobs -> 0..MaxAttempts]
  /\ authority \in [Jobs -> AttemptIds \cup {NoAttempt}]
  /\ dispatchNeeded \in [Jobs -> BOOLEAN]
  /\ committedAttempt \in [Jobs -> AttemptIds \cup {NoAttempt}]
  /\ checkpoint \in [Jobs -> 0..MaxProgress]
  /\ checkpointValid \in [Jobs -> BOOLEAN]
  /\ queued \in [Jobs -> BOOLEAN]
  /\ reservation \in [Jobs -> Workers \cup {NoWorker}]
  /\ leaseState \in [AttemptIds -> LeaseStates]
  /\ leaseAge \in [AttemptIds -> 0..LeaseLimit]
  /\ cancelNotice \in [Jobs -> BOOLEAN]
  /\ liveProgress \in [Jobs -> 0..MaxProgress]
  /\ liveProgressAttempt \in [Jobs -> AttemptIds \cup {NoAttempt}]
  /\ coordinationLostOnce \in BOOLEAN
  /\ workerState \in [Workers -> WorkerStates]
  /\ links \in [Workers -> [Services -> LinkStates]]
  /\ attemptState \in [AttemptIds -> AttemptStates]
  /\ attemptWorker \in [AttemptIds -> Workers \cup {NoWorker}]
  /\ attemptProgress \in [AttemptIds -> 0..MaxProgress]
  /\ initialProgress \in [AttemptIds -> 0..MaxProgress]
  /\ resumedFromCheckpoint \in [AttemptIds -> BOOLEAN]
  /\ stageState \in [AttemptIds -> StageStates]
  /\ pendingOutcome \in [AttemptIds -> OutcomeRequests]

\* The variables of a job, and of an attempt, fit each other.
StateConsistency ==
  /\ \A j \in Jobs :
       /\ phase[j] \in {Running, Cancelling} =>
            /\ authority[j] \in AttemptIds
            /\ JobOf(authority[j]) = j
            /\ TokenOf(authority[j]) = currentToken[j]
       /\ phase[j] \in {Queued, RetryWait} \cup TerminalPhases => authority[j] = NoAttempt
       /\ phase[j] \in {Queued, Running, RetryWait} => ~cancelRequested[j]
       /\ phase[j] \in {Cancelling, Cancelled} => cancelRequested[j]
       /\ phase[j] \in {Succeeded, Failed} => ~cancelRequested[j]
       /\ committedAttempt[j] # NoAttempt <=> phase[j] = Succeeded
       /\ phase[j] = Queued => dispatchNeeded[j]
       /\ reservation[j] # NoWorker => ~queued[j]
  /\ \A a \in AttemptIds :
       /\ attemptState[a] = AttemptUnused <=> attemptWorker[a] = NoWorker
       /\ attemptState[a] # AttemptUnused =>
            /\ attemptWorker[a] \in Workers
            /\ TokenOf(a) <= currentToken[JobOf(a)]
       /\ leaseState[a] = LeaseLive => attemptState[a] # AttemptUnused
       /\ stageState[a] = StageCleaned => committedAttempt[JobOf(a)] # a

AuthoritativeAttempts(j) == {a \in AttemptIds : CurrentAuthority(a) /\ JobOf(a) = j}

\* Nobody else may publish.
AtMostOneAuthoritativeAttempt == \A j \in Jobs : Cardinality(AuthoritativeAttempts(j)) <= 1

\* No attempt in use is ahead of its job's token.
FencingTokensUnique == \A a \in AttemptIds : attemptState[a] # AttemptUnused
      => TokenOf(a) <= currentToken[JobOf(a)]

\* What is committed is the last attempt, whole.
CommittedResultConsistent ==
  \A j \in Jobs :
    committedAttempt[j] # NoAttempt =>
      /\ JobOf(committedAttempt[j]) = j
      /\ TokenOf(committedAttempt[j]) = currentToken[j]
      /\ attemptState[committedAttempt[j]] = AttemptCommitted
      /\ stageState[committedAttempt[j]] = StageComplete

\* Nothing of a cancelled job is published.
CancellationSafety == \A j \in Jobs : cancelRequested[j] => committedAttempt[j] = NoAttempt

\* Limits hold, for what is given out and for what really executes.
PermitSafety ==
  /\ Cardinality(ReservedJobs) + Cardinality(LiveLeases) <= GlobalLimit
  /\ \A w \in Workers : Cardinality(ReservedFor(w)) + Cardinality(ExecutingFor(w)) <= LocalLimit

\* A queued job is in the outbox, whatever coordination has lost.
QueueRecoverable == \A j \in Jobs : phase[j] = Queued => dispatchNeeded[j]

\* What is committed stays whole.
AttemptIsolation == \A a \in AttemptIds : committedAttempt[JobOf(a)] = a
      => stageState[a] = StageComplete

\* An attempt goes on from a checkpoint or from nothing, and never falls behind it.
ResumeValidity ==
  \A a \in AttemptIds :
    /\ attemptProgress[a] >= initialProgress[a]
    /\ initialProgress[a] > 0 => resumedFromCheckpoint[a]
    /\ resumedFromCheckpoint[a] => initialProgress[a] > 0

\* What executes without authority is not what was committed.
ZombieIsolation ==
  \A a \in AttemptIds :
    (attemptState[a] = AttemptExecuting /\ ~CurrentAuthority(a)) => committedAttempt[JobOf(a)] # a

--------------------------------------------------------------------------------
\* PROPERTIES OF EVERY STEP

\* A terminal row never changes.
TerminalStep ==
  \A j \in Jobs :
    Terminal(j) =>
      /\ phase'[j] = phase[j]
      /\ cancelRequested'[j] = cancelRequested[j]
      /\ currentToken'[j] = currentToken[j]
      /\ authority'[j] = authority[j]
      /\ committedAttempt'[j] = committedAttempt[j]
      /\ checkpoint'[j] = checkpoint[j]
      /\ checkpointValid'[j] = checkpointValid[j]

\* Tokens only rise.
FenceStep == \A j \in Jobs : currentToken'[j] >= currentToken[j]

\* Whatever is committed was authoritative, asked for, whole and not cancelled, and was the first.
CommitLinearizationStep ==
  \A j \in Jobs :
    committedAttempt'[j] # committedAttempt[j] =>
      /\ committedAttempt[j] = NoAttempt
      /\ phase[j] = Running
      /\ authority[j] = committedAttempt'[j]
      /\ TokenOf(committedAttempt'[j]) = currentToken[j]
      /\ pendingOutcome[committedAttempt'[j]] = WantsSuccess
      /\ ~cancelRequested[j]
      /\ stageState[committedAttempt'[j]] = StageComplete

TerminalStateIsImmutable == [][TerminalStep]_vars

FencingTokensMonotonic == [][FenceStep]_vars

CommitIsFencedCAS == [][CommitLinearizationStep]_vars

--------------------------------------------------------------------------------
\* PROPERTIES OF WHOLE BEHAVIOURS

\* Somebody is up and reaches everything.
WorkerAvailable(w) ==
  /\ workerState[w] = WorkerUp
  /\ \A s \in Services : CanReach(w, s)

\* Liveness is promised only if, from some point on, faults leave somebody available. Safety is
\* promised always.
RecoveryAssumption == <>[](\E w \in Workers : WorkerAvailable(w))

\* A queued job runs or ends.
AtLeastOnceDelivery == RecoveryAssumption => \A j \in Jobs : phase[j] = Queued
      ~> (phase[j] = Running \/ Terminal(j))

\* Authority without a lease does not last.
EventuallyReaped == RecoveryAssumption
      => \A a \in AttemptIds : (CurrentAuthority(a) /\ leaseState[a] # LeaseLive)
      ~> (~CurrentAuthority(a) \/ Terminal(JobOf(a)))

\* Every job ends.
EventuallyTerminal == RecoveryAssumption => \A j \in Jobs : <>Terminal(j)

================================================================================
