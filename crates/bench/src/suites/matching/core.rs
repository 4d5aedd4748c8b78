//! The whole core, for the passes.

use super::passes::Matcher;
use crate::drive::{FundedCore, Rejected, standing};
use crate::report::Risk;
use rialto_model::Command;
use rialto_workload::{Fill, Standing, Workload, commands, opening};
use std::borrow::Cow;

impl Matcher for FundedCore {
    const NAME: &'static str = "core";
    const RISK: Risk = Risk::On;
    type Step = Command;
    type Refusal = Rejected;

    fn fresh(workload: &Workload) -> FundedCore {
        FundedCore::open(workload.resting_max, &opening(workload))
    }

    fn steps(workload: &Workload) -> Cow<'_, [Command]> {
        Cow::Owned(commands(workload))
    }

    #[inline]
    fn apply(&mut self, step: &Command, sink: &mut impl FnMut(&Fill)) -> Result<(), Rejected> {
        FundedCore::apply(self, step, sink)
    }

    fn standing(&self) -> Standing {
        standing(&self.core)
    }
}
