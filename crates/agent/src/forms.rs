//! Forms that tools wait for, and what people fill in.
//!
//! They live in the process that runs the call, and end with it: a restart
//! loses the call, and with it what it asked. What is filled in goes to the
//! tool and is kept nowhere.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tenon_domain::form::fields::Fields;
use tenon_domain::{CallId, ChatId, Form, FormAnswer, FormId, FormWants, UserId};
use tenon_store::fresh_id;
use tokio::sync::oneshot;

use crate::{Agent, Error};

/// What is longer is no question that a person reads.
const MAX_MESSAGE: usize = 4000;
const MAX_URL: usize = 4000;
const MAX_SCHEMA: usize = 64 * 1024;

/// How many forms of one call a person is shown at once.
const AT_ONCE: usize = 4;

/// The forms that are waited for in this process.
#[derive(Debug, Clone, Default)]
pub(crate) struct Forms {
    open: Arc<Mutex<HashMap<FormId, Open>>>,
}

#[derive(Debug)]
struct Open {
    chat: ChatId,
    call: CallId,
    /// None: there is a page to go to instead.
    fields: Option<Fields>,
    answer: oneshot::Sender<FormAnswer>,
}

/// A form that a tool waits for, until this is dropped.
#[derive(Debug)]
pub(crate) struct Shown {
    forms: Forms,
    pub(crate) form: Form,
    pub(crate) answer: oneshot::Receiver<FormAnswer>,
}

impl Agent {
    /// Gives a tool what it asked this user. Of two answers one counts; one
    /// that does not fit leaves the form open.
    pub async fn answer_form(
        &self,
        user: &UserId,
        call: &CallId,
        form: &FormId,
        answer: FormAnswer,
    ) -> Result<(), Error> {
        // Whose call it is: to others it does not exist.
        self.store.question(user, call).await?;
        let outcome = answer.outcome();
        self.forms.answer(call, form, answer)?;
        tracing::info!(%call, %form, ?outcome, "form answered");
        Ok(())
    }

    /// The chats in which a tool waits for somebody to fill in a form.
    pub fn chats_with_forms(&self) -> HashSet<ChatId> {
        let open = self.forms.open();
        open.values().map(|form| form.chat.clone()).collect()
    }
}

impl Forms {
    /// Puts a form up to be answered. The error says why nobody can be shown it.
    pub(crate) fn show(
        &self,
        chat: &ChatId,
        call: &CallId,
        message: &str,
        wants: FormWants,
    ) -> Result<Shown, String> {
        let (form, fields) = admit(message, wants)?;
        let (sender, answer) = oneshot::channel();
        let mut open = self.open();
        if open.values().filter(|other| other.call == *call).count() >= AT_ONCE {
            return Err(format!("{AT_ONCE} forms of this call are open already"));
        }
        open.insert(
            form.id.clone(),
            Open {
                chat: chat.clone(),
                call: call.clone(),
                fields,
                answer: sender,
            },
        );
        Ok(Shown {
            forms: self.clone(),
            form,
            answer,
        })
    }

    fn answer(&self, call: &CallId, form: &FormId, answer: FormAnswer) -> Result<(), Error> {
        let mut forms = self.open();
        let open = forms.get(form).filter(|open| open.call == *call);
        let fields = open.ok_or(Error::FormClosed)?.fields.as_ref();
        let answer = fitting(fields, answer)?;
        let open = forms.remove(form).ok_or(Error::FormClosed)?;
        open.answer.send(answer).map_err(|_gone| Error::FormClosed)
    }

    fn open(&self) -> MutexGuard<'_, HashMap<FormId, Open>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Shown {
    /// Nobody can answer it any more; what somebody did answer just before still counts.
    pub(crate) fn withdraw(&mut self) -> FormAnswer {
        self.forms.open().remove(&self.form.id);
        self.answer.try_recv().unwrap_or(FormAnswer::Cancel)
    }
}

impl Drop for Shown {
    fn drop(&mut self) {
        self.forms.open().remove(&self.form.id);
    }
}

/// A form as it can be put before a person. It comes from outside: what is too
/// much, or would lead anywhere but to a web page, is not shown.
fn admit(message: &str, wants: FormWants) -> Result<(Form, Option<Fields>), String> {
    let fields = match &wants {
        FormWants::Fields { schema } if schema.to_string().len() > MAX_SCHEMA => {
            return Err(format!("its schema is longer than {MAX_SCHEMA} bytes"));
        }
        FormWants::Fields { schema } => Some(Fields::read(schema)?),
        FormWants::Visit { url } if is_web_page(url) => None,
        FormWants::Visit { .. } => return Err("it leads to no web page".into()),
    };
    let form = Form {
        id: FormId(fresh_id()),
        message: message.chars().take(MAX_MESSAGE).collect(),
        wants,
    };
    Ok((form, fields))
}

fn is_web_page(url: &str) -> bool {
    let is_odd = |char: char| char.is_whitespace() || char.is_control();
    let scheme = url.split_once("://").map(|(scheme, _)| scheme);
    scheme.is_some_and(|scheme| {
        scheme.eq_ignore_ascii_case("https") || scheme.eq_ignore_ascii_case("http")
    }) && url.len() <= MAX_URL
        && !url.contains(is_odd)
}

fn fitting(fields: Option<&Fields>, answer: FormAnswer) -> Result<FormAnswer, Error> {
    match (answer, fields) {
        (FormAnswer::Accept { content }, Some(fields)) => {
            let content = fields.fit(content).map_err(Error::Misfit)?;
            Ok(FormAnswer::Accept { content })
        }
        // What was done on the page stays there.
        (FormAnswer::Accept { .. }, None) => Ok(FormAnswer::Accept {
            content: Default::default(),
        }),
        (answer @ (FormAnswer::Decline | FormAnswer::Cancel), _) => Ok(answer),
    }
}
