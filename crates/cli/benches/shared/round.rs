//! What calls cost: the time on a processor, and the time that passed.

use std::time::{Duration, Instant};

use tokio::task::JoinSet;

/// What all calls of one round took.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
pub struct Round {
    pub on_processor: Duration,
    pub elapsed: Duration,
}

impl Round {
    pub fn print(&self, what: &str, calls: u32, remark: &str) {
        println!(
            "  {what:<28}  {:>12.2?}   {:>9.0} calls/s   {remark}",
            self.on_processor / calls,
            f64::from(calls) / self.elapsed.as_secs_f64()
        );
    }
}

pub async fn measured(work: impl AsyncFnOnce()) -> Round {
    let (before, started) = (on_processor(), Instant::now());
    work().await;
    Round {
        elapsed: started.elapsed(),
        on_processor: on_processor() - before,
    }
}

pub fn middle(mut rounds: Vec<Round>) -> Round {
    rounds.sort();
    rounds.swap_remove(rounds.len() / 2)
}

/// So many calls in all, so many at a time, each on a task like those of turns.
pub async fn side_by_side<C, F>(calls: u32, in_flight: u32, call: C)
where
    C: Fn(u32) -> F + Clone + Send + 'static,
    F: Future<Output = ()> + Send,
{
    let mut tasks = JoinSet::new();
    for task in 0..in_flight {
        let call = call.clone();
        tasks.spawn(async move {
            for number in (task..calls).step_by(in_flight as usize) {
                call(number).await;
            }
        });
    }
    while let Some(done) = tasks.join_next().await {
        done.expect("every call is answered");
    }
}

/// The time the threads of this process have had, whichever are still there.
fn on_processor() -> Duration {
    let threads = std::fs::read_dir("/proc/self/task").into_iter().flatten();
    let nanos = threads.flatten().filter_map(|thread| {
        let stat = std::fs::read_to_string(thread.path().join("schedstat")).ok()?;
        stat.split(' ').next()?.parse::<u64>().ok()
    });
    Duration::from_nanos(nanos.sum())
}
