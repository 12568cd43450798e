//! Requests that change what the user chooses of a session's agent: the mode, config options.

use agent_client_protocol_schema::v1::{SetSessionConfigOptionRequest, SetSessionModeRequest};
use serde_json::value::RawValue;
use sessiond_protocol::{Op, SessionChanged};
use sessiond_wire::rpc::{ErrorObject, RawId};

use crate::awaited::{Awaited, Purpose, Setter};
use crate::choices::Setting;
use crate::face::Face;
use crate::params::read;
use crate::refusal::invalid_params;

impl Face {
    pub(crate) fn set_mode(
        &mut self,
        id: &RawId,
        params: Option<&RawValue>,
    ) -> Result<(), ErrorObject> {
        let asked: SetSessionModeRequest = read(params)?;
        let mode = &*asked.mode_id.0;
        let (session, state) = self.active(&asked.session_id.0)?;
        if !state.choices.has_mode(mode) {
            return Err(invalid_params("there is no such mode"));
        }
        let change = SessionChanged {
            mode: Some(mode.to_owned()),
            ..SessionChanged::default()
        };
        let purpose = Purpose::Configure(Setter::Mode(Box::new(change)));
        let awaited = Awaited::about(session, id, purpose);
        self.submit(awaited, Some(session), Op::set_mode(mode))
    }

    pub(crate) fn set_config_option(
        &mut self,
        id: &RawId,
        params: Option<&RawValue>,
    ) -> Result<(), ErrorObject> {
        let asked: SetSessionConfigOptionRequest = read(params)?;
        let gates = self.gates();
        let (session, state) = self.active(&asked.session_id.0)?;
        let choices = &state.choices;
        let Some(setting) = choices.setting(&asked.config_id.0, &asked.value, gates) else {
            return Err(invalid_params(
                "there is no such option, or it takes no such value",
            ));
        };
        let (change, op) = match setting {
            Setting::Mode(mode) => {
                let change = SessionChanged {
                    mode: Some(mode.clone()),
                    ..SessionChanged::default()
                };
                (change, Op::set_mode(mode))
            }
            Setting::Option(setting) => {
                let change = SessionChanged {
                    options: Some(choices.with(&setting)),
                    ..SessionChanged::default()
                };
                let (mode, options) = (None, vec![setting]);
                (change, Op::SessionConfigure { mode, options })
            }
        };
        let purpose = Purpose::Configure(Setter::ConfigOption(Box::new(change)));
        self.submit(Awaited::about(session, id, purpose), Some(session), op)
    }
}
