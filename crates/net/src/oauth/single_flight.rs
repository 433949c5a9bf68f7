//! One run of a job for all who ask for its result at the same time.

use std::fmt;
use std::future::Future;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use futures::FutureExt;
use futures::future::{BoxFuture, Shared};

/// The job is a task of its own: whoever stops waiting does not take the result away from
/// the others.
pub struct SingleFlight<T>(Arc<Mutex<Option<Flight<T>>>>);

/// None: the job panicked.
type Flight<T> = Shared<BoxFuture<'static, Option<T>>>;

impl<T: Clone + Send + Sync + 'static> SingleFlight<T> {
    /// The result of the job that runs. Otherwise `ready` is asked, under the lock that no job
    /// can end under, whether there is a result already; if not, `job` is started.
    pub async fn run<F>(
        &self,
        ready: impl FnOnce() -> Option<T>,
        job: impl FnOnce() -> F,
    ) -> Option<T>
    where
        F: Future<Output = T> + Send + 'static,
    {
        let flight = {
            let mut running = self.lock();
            match &*running {
                Some(flight) => flight.clone(),
                None => {
                    if let Some(result) = ready() {
                        return Some(result);
                    }
                    let flight = self.start(job());
                    *running = Some(flight.clone());
                    flight
                }
            }
        };
        flight.await
    }

    /// Waits for the job that runs, if one does.
    pub async fn wait(&self) {
        let running = self.lock().clone();
        if let Some(flight) = running {
            flight.await;
        }
    }

    fn start(&self, job: impl Future<Output = T> + Send + 'static) -> Flight<T> {
        let ended = EndOfFlight(self.0.clone());
        let task = tokio::spawn(async move {
            let _ended = ended;
            job.await
        });
        async move { task.await.ok() }.boxed().shared()
    }

    fn lock(&self) -> MutexGuard<'_, Option<Flight<T>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The next one who asks starts anew, however the job ended.
struct EndOfFlight<T>(Arc<Mutex<Option<Flight<T>>>>);

impl<T> Drop for EndOfFlight<T> {
    fn drop(&mut self) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }
}

impl<T> Default for SingleFlight<T> {
    fn default() -> Self {
        Self(Arc::default())
    }
}

impl<T> fmt::Debug for SingleFlight<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SingleFlight").finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;

    #[tokio::test]
    async fn many_who_ask_at_once_share_one_job() {
        let (flights, jobs) = (SingleFlight::default(), Arc::new(AtomicUsize::new(0)));
        let ask = || {
            let jobs = jobs.clone();
            flights.run(
                || None,
                || async move {
                    tokio::task::yield_now().await;
                    jobs.fetch_add(1, Ordering::SeqCst) + 1
                },
            )
        };
        let results = futures::future::join_all((0..20).map(|_| ask())).await;
        assert_eq!(results, vec![Some(1); 20]);
        assert_eq!(ask().await, Some(2));
        assert_eq!(flights.run(|| Some(7), || async { 8 }).await, Some(7));
    }

    #[tokio::test]
    async fn a_job_that_panics_does_not_block_the_next() {
        let flights: SingleFlight<usize> = SingleFlight::default();
        let panics = || async { panic!("on purpose") };
        assert_eq!(flights.run(|| None, panics).await, None);
        assert_eq!(flights.run(|| None, || async { 1 }).await, Some(1));
    }
}
