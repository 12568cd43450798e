//! What is not as a session's log says it was, and what of that the client has to accept before the
//! session goes on (RESUME-7, RESUME-14, RESUME-16).

use std::path::Path;

use sessiond_protocol::{
    AgentInfo, Drift, DriftClass, DriftClasses, DriftField, ErrorCode, FoundBy, ResumePath,
    SessionOpened, Standing, Surroundings, WireError, Workspace,
};

/// How a client came to a session, and what was found there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Arrival {
    pub(crate) path: ResumePath,
    pub(crate) found_by: FoundBy,
    pub(crate) surroundings: Surroundings,
    pub(crate) drift: Vec<Drift>,
}

/// What a client that comes to a session says.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Wish<'a> {
    pub(crate) found_by: FoundBy,
    pub(crate) accept: &'a [DriftClass],
    /// The roots beside the working directory, canonical; none where it only looks on.
    pub(crate) roots: Option<&'a [String]>,
}

impl Arrival {
    /// At a session that is not open in this process.
    ///
    /// # Errors
    /// `drifted`, naming what has to be accepted and is not.
    pub(crate) fn opening(
        (standing, info): (&Standing, &AgentInfo),
        surroundings: Surroundings,
        wish: Wish<'_>,
    ) -> Result<Self, WireError> {
        let mut drift = drift(standing, info, &surroundings);
        if let Some(roots) = wish.roots {
            drift.extend(additional(standing, &surroundings, roots));
        }
        check(&drift, wish.accept)?;
        let path = path(&drift, &surroundings, wish.found_by);
        Ok(Self {
            path,
            found_by: wish.found_by,
            surroundings,
            drift,
        })
    }

    /// The same with an agent that has told what it is now: some do only once they run.
    ///
    /// # Errors
    /// `drifted`, as [`opening`](Self::opening).
    pub(crate) fn told(
        mut self,
        (standing, info): (&Standing, &AgentInfo),
        accept: &[DriftClass],
    ) -> Result<Self, WireError> {
        self.drift.retain(|drift| !is_of_agent(drift.field));
        self.drift.extend(agent(standing, info));
        check(&self.drift, accept)?;
        Ok(self)
    }

    /// At a session that is open in this process, where it works.
    pub(crate) fn again(surroundings: Surroundings, found_by: FoundBy) -> Self {
        let path = match found_by {
            FoundBy::Relay => ResumePath::Relay,
            FoundBy::Id | FoundBy::Title | FoundBy::Picker => ResumePath::ReAttach,
        };
        Self {
            path,
            found_by,
            surroundings,
            drift: Vec::new(),
        }
    }

    /// The same after the log failed and was read anew.
    pub(crate) fn recovery(surroundings: Surroundings) -> Self {
        Self {
            path: ResumePath::Recovery,
            ..Self::again(surroundings, FoundBy::Id)
        }
    }

    /// The classes of drift that the client accepted.
    pub(crate) fn accepted(&self) -> DriftClasses {
        classes(&self.drift)
    }

    /// Whether the run works at other roots than the session did before.
    pub(crate) fn is_elsewhere(&self) -> bool {
        let moved = |drift: &Drift| match drift.field {
            DriftField::Root | DriftField::Repository => drift.found.is_some(),
            DriftField::AdditionalRoot => true,
            _ => false,
        };
        self.drift.iter().any(moved)
    }
}

fn classes(drift: &[Drift]) -> DriftClasses {
    drift.iter().filter_map(|drift| drift.class).collect()
}

/// # Errors
/// `drifted`, naming what has to be accepted and is not.
fn check(drift: &[Drift], accept: &[DriftClass]) -> Result<(), WireError> {
    let classes = classes(drift);
    let missing: DriftClasses = classes.iter().filter(|it| !accept.contains(it)).collect();
    match missing.is_empty() {
        true => Ok(()),
        false => Err(refusal(missing)),
    }
}

fn is_of_agent(field: DriftField) -> bool {
    matches!(
        field,
        DriftField::Version | DriftField::Mode | DriftField::Policy
    )
}

/// The message says how to accept, not what was found: who is refused may be no owner (SEC-1).
fn refusal(fields: DriftClasses) -> WireError {
    let names: Vec<&str> = fields.iter().map(DriftClass::name).collect();
    let names = names.join(",");
    let message = format!(
        "the session was recorded in other surroundings ({names}); to go on here all the same, \
         resume with accept {names} (SESSIOND_ACCEPT={names})"
    );
    WireError {
        fields,
        ..WireError::new(ErrorCode::Drifted, message)
    }
}

fn path(drift: &[Drift], found: &Surroundings, found_by: FoundBy) -> ResumePath {
    // A root beside the working directory does not make it another place.
    let of_place = |drift: &&Drift| drift.field != DriftField::AdditionalRoot;
    let place = drift.iter().filter(of_place);
    let has = |class| place.clone().any(|drift| drift.class == Some(class));
    let moved = |drift: &Drift| drift.field == DriftField::Root && drift.found.is_some();
    let same_repository = found.workspace.repository.is_some();
    if has(DriftClass::Repository) || has(DriftClass::Roots) && !same_repository {
        ResumePath::CrossProject
    } else if drift.iter().any(moved) {
        ResumePath::Relocation
    } else {
        match found_by {
            FoundBy::Id => ResumePath::Id,
            FoundBy::Title => ResumePath::Title,
            FoundBy::Picker => ResumePath::Picker,
            FoundBy::Relay => ResumePath::Relay,
        }
    }
}

/// Everything that differs. A place counts as known when the session was made there, or when it
/// was attested by the newest resume that was: what was accepted once is accepted there.
pub(crate) fn drift(standing: &Standing, info: &AgentInfo, found: &Surroundings) -> Vec<Drift> {
    let made = standing.header.as_ref().map(made_in);
    let known = standing.surroundings.iter().chain(&made);
    let places = known.map(|recorded| place(recorded, found));
    let mut drift = places
        .min_by_key(|drift| (classes(drift).iter().count(), drift.len()))
        .unwrap_or_default();
    drift.extend(agent(standing, info));
    drift
}

fn made_in(header: &SessionOpened) -> Surroundings {
    Surroundings {
        cwd: header.cwd.clone(),
        host: header.host.clone(),
        principal: header.principal.clone(),
        workspace: header.workspace.clone(),
    }
}

/// What differs between two places.
fn place(recorded: &Surroundings, found: &Surroundings) -> Vec<Drift> {
    let (was, is) = (&recorded.workspace, &found.workspace);
    let owned = recorded.principal.is_some();
    let theirs = (owned && recorded.principal != found.principal).then_some(DriftClass::Principal);
    let (was_cwd, is_cwd) = (Some(recorded.cwd.clone()), Some(found.cwd.clone()));
    let mut compared = vec![
        (DriftField::Cwd, None, was_cwd, is_cwd),
        (
            DriftField::Principal,
            theirs,
            recorded.principal.clone(),
            found.principal.clone(),
        ),
    ];
    if recorded.host.is_some() {
        let (was, is) = (recorded.host.clone(), found.host.clone());
        compared.push((DriftField::Host, None, was, is));
    }
    // Of a place of which only the name is known, the name is all that can be compared.
    if *was != Workspace::default() || recorded.cwd != found.cwd {
        let (roots, other) = reach(recorded, found);
        let mut push = |field, class, was: &Option<String>, is: &Option<String>| {
            compared.push((field, class, was.clone(), is.clone()));
        };
        push(DriftField::Root, roots, &was.root, &is.root);
        push(
            DriftField::Repository,
            other,
            &was.repository,
            &is.repository,
        );
        push(DriftField::Worktree, None, &was.worktree, &is.worktree);
        push(DriftField::Branch, None, &was.branch, &is.branch);
    }
    let differs = compared
        .into_iter()
        .filter(|(_, class, was, is)| was != is || class.is_some());
    let drift = differs.map(|(field, class, recorded, found)| Drift {
        field,
        class,
        recorded,
        found,
    });
    drift.collect()
}

/// As what a change of root, and one of repository, must be accepted. A moved or sibling worktree
/// of the same repository needs nothing (RESUME-7), a wider reach always does.
fn reach(
    recorded: &Surroundings,
    found: &Surroundings,
) -> (Option<DriftClass>, Option<DriftClass>) {
    let (from, to) = (root(recorded), root(found));
    let (from, to) = (Path::new(&from), Path::new(&to));
    let (was, is) = (&recorded.workspace.repository, &found.workspace.repository);
    let gone = recorded.cwd == found.cwd && found.workspace.root.is_none();
    let foreign = (is != was && is.is_some()).then_some(DriftClass::Repository);
    if gone || from == to {
        // A repository where none was known is no other one.
        return (None, foreign.filter(|_| was.is_some()));
    }
    let wider = from.starts_with(to).then_some(DriftClass::Roots);
    if was == is && was.is_some() {
        return (wider, None);
    }
    if to.starts_with(from) && (was.is_none() || is.is_none()) {
        return (None, None);
    }
    // Elsewhere: named as what it is, another repository, where there is one to tell by.
    let elsewhere = foreign.is_none().then_some(DriftClass::Roots);
    (wider.or(elsewhere), foreign)
}

/// What differs about the roots beside the working directory (CKPT-4). One that lies in what the
/// session reached before widens nothing; any other must be accepted by the client that gives it.
fn additional(standing: &Standing, found: &Surroundings, roots: &[String]) -> Vec<Drift> {
    let made = standing.header.as_ref().map(made_in);
    let recorded = standing.surroundings.clone().or(made);
    let homes = recorded.iter().chain([found]).map(root);
    let reached: Vec<String> = homes.chain(standing.roots.iter().cloned()).collect();
    let is_reached = |new: &str| reached.iter().any(|old| Path::new(new).starts_with(old));
    let is_known = |root: &&String| standing.roots.contains(*root);
    let added = roots
        .iter()
        .filter(|root| !is_known(root))
        .map(|new| Drift {
            field: DriftField::AdditionalRoot,
            class: (!is_reached(new)).then_some(DriftClass::Roots),
            recorded: None,
            found: Some(new.clone()),
        });
    let gone = standing.roots.iter().filter(|root| !roots.contains(root));
    let gone = gone.map(|old| Drift {
        field: DriftField::AdditionalRoot,
        class: None,
        recorded: Some(old.clone()),
        found: None,
    });
    added.chain(gone).collect()
}

fn root(of: &Surroundings) -> String {
    of.workspace.root.clone().unwrap_or_else(|| of.cwd.clone())
}

/// What differs about the agent.
fn agent(standing: &Standing, info: &AgentInfo) -> Vec<Drift> {
    let mut drift = Vec::new();
    let made_by = standing.header.as_ref().map(|header| &header.agent.version);
    let last = standing.last_run.as_ref();
    let version = last.map(|last| &last.version).or(made_by);
    // An agent that tells what it is only once it runs has told nothing yet.
    let is_told = info.id.version.is_some() || !info.modes.is_empty();
    if let Some(version) = version.filter(|_| is_told)
        && *version != info.id.version
    {
        drift.push(Drift {
            field: DriftField::Version,
            class: None,
            recorded: version.clone(),
            found: info.id.version.clone(),
        });
    }
    let mode = standing.mode.as_deref();
    if is_told && mode.is_some() && info.modes.iter().all(|known| Some(&*known.id) != mode) {
        drift.push(Drift {
            field: DriftField::Mode,
            class: None,
            recorded: mode.map(str::to_owned),
            found: None,
        });
    }
    let now = info.policy(mode);
    // A mode that was chosen since is the user's own decision.
    let same_mode = last.filter(|last| last.mode.as_deref() == mode);
    if let Some(then) = same_mode.and_then(|last| last.policy)
        && then != now
    {
        drift.push(Drift {
            field: DriftField::Policy,
            class: now.is_looser_than(then).then_some(DriftClass::Policy),
            recorded: Some(then.name().to_owned()),
            found: Some(now.name().to_owned()),
        });
    }
    drift
}

#[cfg(test)]
mod tests;
