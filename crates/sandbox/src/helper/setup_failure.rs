//! What went wrong in the helper, in a form that can be sent.

use std::error::Error;
use std::io;

use crate::error::SetupStep;
use crate::protocol::HelperReply;

#[derive(Debug, Clone, Copy)]
pub(super) struct SetupFailure {
    step: SetupStep,
    errno: i32,
}

impl SetupFailure {
    /// With the error number that is the cause of the error.
    pub(super) fn new(step: SetupStep, error: &(dyn Error + 'static)) -> Self {
        let mut causes = std::iter::successors(Some(error), |error| (*error).source());
        let errno = causes.find_map(|error| {
            let os_error = error.downcast_ref::<io::Error>();
            os_error.and_then(io::Error::raw_os_error)
        });
        Self {
            step,
            errno: errno.unwrap_or(libc::EIO),
        }
    }

    /// To be given to `map_err`.
    pub(super) fn at<E: Into<io::Error>>(step: SetupStep) -> impl Fn(E) -> Self {
        move |error| Self::new(step, &error.into())
    }
}

impl From<SetupFailure> for HelperReply {
    fn from(SetupFailure { step, errno }: SetupFailure) -> Self {
        Self::Failed { step, errno }
    }
}
