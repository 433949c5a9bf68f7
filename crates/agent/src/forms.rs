//! Pending elicitations: forms that tools wait for, and the answers to them.
//!
//! A form lives in the process that runs its call and ends with it: a restart loses the call, and
//! with it the form. The answer goes to the tool and is stored nowhere.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, MutexGuard};

use tenon_domain::form::fields::{FormFields, FormSchemaError};
use tenon_domain::text::shorten;
use tenon_domain::{CallId, ChatId, Form, FormAnswer, FormId, FormRequest, UserId};
use tenon_store::fresh_id;
use tokio::sync::oneshot;

use crate::activity::ChatActivity;
use crate::lock::lock;
use crate::{Agent, Error};

/// Nobody reads a longer message.
const MAX_MESSAGE_CHARS: usize = 4000;
const MAX_URL_BYTES: usize = 4000;
const MAX_SCHEMA_BYTES: usize = 64 * 1024;

/// How many forms of one call may be open at once.
const MAX_OPEN_FORMS: usize = 4;

/// The open forms of this process.
#[derive(Debug, Clone, Default)]
pub(crate) struct Forms {
    open: Arc<Mutex<HashMap<FormId, OpenForm>>>,
    activity: ChatActivity,
}

#[derive(Debug)]
struct OpenForm {
    chat: ChatId,
    call: CallId,
    /// None: there is a page to go to instead.
    fields: Option<FormFields>,
    answer: oneshot::Sender<FormAnswer>,
}

/// A form that a tool waits for. Dropping it closes the form.
#[derive(Debug)]
pub(crate) struct PendingForm {
    forms: Forms,
    chat: ChatId,
    pub(crate) form: Form,
    pub(crate) answer: oneshot::Receiver<FormAnswer>,
}

/// Why a form cannot be shown. Displayed, it is for the log.
#[derive(Debug, thiserror::Error)]
pub(crate) enum FormRefusal {
    #[error("{MAX_OPEN_FORMS} forms of this call are open already")]
    TooMany,
    #[error("its schema is longer than {MAX_SCHEMA_BYTES} bytes")]
    SchemaTooLong,
    #[error(transparent)]
    Schema(#[from] FormSchemaError),
    #[error("it leads to no web page")]
    NotAWebPage,
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
        // Checks that the call belongs to the user; for others it does not exist.
        self.store.approval(user, call).await?;
        let outcome = answer.outcome();
        match self.forms.answer(call, form, answer.clone()) {
            Err(Error::FormClosed) => self.answer_form_elsewhere(call, form, answer).await?,
            other => other?,
        }
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
    pub(crate) fn new(activity: ChatActivity) -> Self {
        Self {
            open: Arc::default(),
            activity,
        }
    }

    /// Opens a form.
    pub(crate) fn show(
        &self,
        chat: &ChatId,
        call: &CallId,
        message: &str,
        request: FormRequest,
    ) -> Result<PendingForm, FormRefusal> {
        let (form, fields) = admit(message, request)?;
        let (sender, answer) = oneshot::channel();
        let mut open = self.open();
        if open.values().filter(|other| other.call == *call).count() >= MAX_OPEN_FORMS {
            return Err(FormRefusal::TooMany);
        }
        open.insert(
            form.id.clone(),
            OpenForm {
                chat: chat.clone(),
                call: call.clone(),
                fields,
                answer: sender,
            },
        );
        Ok(PendingForm {
            forms: self.clone(),
            chat: chat.clone(),
            form,
            answer,
        })
    }

    pub(crate) fn answer(
        &self,
        call: &CallId,
        form: &FormId,
        answer: FormAnswer,
    ) -> Result<(), Error> {
        let mut forms = self.open();
        let open = forms.get(form).filter(|open| open.call == *call);
        let fields = open.ok_or(Error::FormClosed)?.fields.as_ref();
        let answer = fitting(fields, answer)?;
        let open = forms.remove(form).ok_or(Error::FormClosed)?;
        open.answer.send(answer).map_err(|_gone| Error::FormClosed)
    }

    fn open(&self) -> MutexGuard<'_, HashMap<FormId, OpenForm>> {
        lock(&self.open)
    }
}

impl PendingForm {
    /// Withdraws the form, and returns an answer that arrived just before.
    pub(crate) fn withdraw(&mut self) -> FormAnswer {
        self.forms.open().remove(&self.form.id);
        self.answer.try_recv().unwrap_or(FormAnswer::Cancel)
    }
}

impl Drop for PendingForm {
    fn drop(&mut self) {
        self.forms.open().remove(&self.form.id);
        self.forms.activity.publish(&self.chat);
    }
}

/// A form as it can be put before a person. It comes from outside: what is too
/// much, or would lead anywhere but to a web page, is not shown.
fn admit(message: &str, request: FormRequest) -> Result<(Form, Option<FormFields>), FormRefusal> {
    let fields = match &request {
        FormRequest::Fields { schema } if schema.to_string().len() > MAX_SCHEMA_BYTES => {
            return Err(FormRefusal::SchemaTooLong);
        }
        FormRequest::Fields { schema } => Some(FormFields::read(schema)?),
        FormRequest::Visit { url } if is_web_page(url) => None,
        FormRequest::Visit { .. } => return Err(FormRefusal::NotAWebPage),
    };
    let form = Form {
        id: FormId(fresh_id()),
        message: shorten(message, MAX_MESSAGE_CHARS).into_owned(),
        request,
    };
    Ok((form, fields))
}

fn is_web_page(url: &str) -> bool {
    let is_odd = |char: char| char.is_whitespace() || char.is_control();
    let scheme = url.split_once("://").map(|(scheme, _)| scheme);
    scheme.is_some_and(|scheme| {
        scheme.eq_ignore_ascii_case("https") || scheme.eq_ignore_ascii_case("http")
    }) && url.len() <= MAX_URL_BYTES
        && !url.contains(is_odd)
}

fn fitting(fields: Option<&FormFields>, answer: FormAnswer) -> Result<FormAnswer, Error> {
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
