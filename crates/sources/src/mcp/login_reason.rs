//! Why somebody cannot log in at a server, as codes. Each is told as a part of a larger sentence.

use tenon_domain::{CodedError, ErrorDetail, ErrorParam, coded_errors};
use tenon_mcp::oauth::{
    AddressFlaw, EndedLogin, HostFailure, RefusedLogin, RegistrationRefusal, UnreachableLogin,
    UntrustedLogin,
};

use crate::fault::url_fault;

coded_errors! {
    #[derive(Debug)]
    pub enum LoginReason {
        // What does not answer as it should.
        Said { said } = "login_service_said" => "The log-in service said {said}.",
        Status { status: u16 } = "login_service_status" => "The log-in service answered {status}.",
        Timeout = "login_service_timeout" => "The log-in service takes too long to answer.",
        Registration { client, why } = "login_registration_failed" => "{client} could not register there: {why}.",
        NoMetadata { names } = "login_no_metadata" => "Where to log in is not known: the server names {names}, where no log-in metadata was found.",
        Host { host, why } = "login_host_failed" => "{host} could not be asked: {why}.",
        HttpClient { why } = "login_http_client" => "No connection can be made: {why}.",
        Randomness = "login_randomness" => "The machine Tenon runs on provides no random numbers.",

        // How a host failed; each goes on after a colon.
        HostSilent = "login_host_silent" => "it does not answer",
        HostTooLong = "login_host_too_long" => "its answer is too long",
        HostRedirectsElsewhere = "login_host_redirects_elsewhere" => "it redirects to another site",
        HostRedirects = "login_host_redirects" => "it redirects too often",
        HostAnswered { status: u16, said } = "login_host_answered" => "it answered {status}[: {said}]",

        // Why a client has to be registered by hand; each goes on after a colon.
        NoRegistration = "login_no_registration" => "it does not allow registration.",
        RegistrationRefused { why } = "login_registration_refused" => "{why}.",
        NoClient = "login_no_client" => "its answer contains no client id.",

        // How a log-in was refused; each goes on after a colon.
        RefusedWithStatus { status: u16 } = "login_refused_status" => "it answered {status}.",
        NoToken = "login_no_token" => "its answer contains no token.",
        InvalidToken = "login_invalid_token" => "its token is not valid.",
        TokenType { client } = "login_token_type" => "it issues tokens of a type that {client} cannot use.",

        // Why one has ended; each stands in brackets.
        NotRenewable = "login_not_renewable" => "it issued no refresh token",
        LoggedOut = "login_logged_out" => "somebody logged out",

        // Which check failed.
        ServerAddress = "login_server_address" => "The server's address is not valid.",
        AddressTooLong { address } = "login_address_too_long" => "The server names an address that is too long: {address}.",
        AddressInvalid { address } = "login_address_invalid" => "The server names an address that is not valid: {address}.",
        AddressNotHttps { address } = "login_address_not_https" => "The server names an address that is not https, although its own is: {address}.",
        AddressLocal { address } = "login_address_local" => "The server names an address that belongs to this machine or its cloud: {address}.",
        AddressRefused { why } = "login_address_refused" => "The server names an address that is refused. {why}",
        NoIssuer = "login_no_issuer" => "The log-in service does not name itself.",
        OtherIssuer { named, expected } = "login_other_issuer" => "The log-in service calls itself {named} instead of {expected}.",
        OtherResource { url } = "login_other_resource" => "The metadata at {url}, which the server names, describes another server.",
        ClientSecret = "login_client_secret" => "The client secret cannot be sent in a header.",
        NoCodes = "login_no_codes" => "The log-in service does not support authorization codes.",
        NoPkce = "login_no_pkce" => "The log-in service does not support PKCE with S256.",
        OtherSender = "login_other_sender" => "The response does not come from the service where the log-in began.",
    }
}

impl LoginReason {
    pub fn of_unreachable(why: &UnreachableLogin) -> ErrorDetail {
        let reason = match why {
            UnreachableLogin::Said(said) => Self::Said { said: said.into() },
            UnreachableLogin::Status(status) => Self::Status { status: *status },
            UnreachableLogin::Timeout => Self::Timeout,
            UnreachableLogin::Registration { client, why } => Self::Registration {
                client: client.into(),
                why: host_failure(why),
            },
            UnreachableLogin::NoMetadata(names) => Self::NoMetadata {
                names: names.into(),
            },
            UnreachableLogin::Host { host, why } => Self::Host {
                host: host.into(),
                why: host_failure(why),
            },
            UnreachableLogin::HttpClient(why) => Self::HttpClient { why: why.into() },
            UnreachableLogin::Randomness(_) => Self::Randomness,
        };
        reason.into()
    }

    pub fn of_refusal(why: &RegistrationRefusal) -> ErrorDetail {
        let reason = match why {
            RegistrationRefusal::NotOffered => Self::NoRegistration,
            RegistrationRefusal::Answered(failure) => Self::RegistrationRefused {
                why: host_failure(failure),
            },
            RegistrationRefusal::NoClient => Self::NoClient,
        };
        reason.into()
    }

    /// What a server said is quoted as it is.
    pub fn of_refused(why: &RefusedLogin) -> ErrorParam {
        let reason = match why {
            RefusedLogin::Said(said) => return said.into(),
            RefusedLogin::Status(status) => Self::RefusedWithStatus { status: *status },
            RefusedLogin::NoToken => Self::NoToken,
            RefusedLogin::InvalidToken => Self::InvalidToken,
            RefusedLogin::TokenType { client } => Self::TokenType {
                client: client.into(),
            },
        };
        reason.into()
    }

    pub fn of_ended(why: &EndedLogin) -> ErrorParam {
        let reason = match why {
            EndedLogin::Said(said) => return said.into(),
            EndedLogin::NotRenewable => Self::NotRenewable,
            EndedLogin::LoggedOut => Self::LoggedOut,
        };
        reason.into()
    }

    pub fn of_untrusted(why: &UntrustedLogin) -> ErrorDetail {
        let reason = match why {
            UntrustedLogin::Address(error) => return url_fault(error).into(),
            UntrustedLogin::ServerAddress => Self::ServerAddress,
            UntrustedLogin::NamedAddress { flaw, address } => named_address(*flaw, address),
            UntrustedLogin::NamedAddressRefused(error) => Self::AddressRefused {
                why: url_fault(error).detail().into(),
            },
            UntrustedLogin::NoIssuer => Self::NoIssuer,
            UntrustedLogin::OtherIssuer { named, expected } => Self::OtherIssuer {
                named: named.into(),
                expected: expected.into(),
            },
            UntrustedLogin::OtherResource(url) => Self::OtherResource { url: url.into() },
            UntrustedLogin::ClientSecret => Self::ClientSecret,
            UntrustedLogin::NoCodes => Self::NoCodes,
            UntrustedLogin::NoPkce => Self::NoPkce,
            UntrustedLogin::OtherSender => Self::OtherSender,
        };
        reason.into()
    }
}

fn named_address(flaw: AddressFlaw, address: &str) -> LoginReason {
    let address = address.into();
    match flaw {
        AddressFlaw::TooLong => LoginReason::AddressTooLong { address },
        AddressFlaw::Invalid => LoginReason::AddressInvalid { address },
        AddressFlaw::NotHttps => LoginReason::AddressNotHttps { address },
        AddressFlaw::Local => LoginReason::AddressLocal { address },
    }
}

fn host_failure(failure: &HostFailure) -> ErrorParam {
    let reason = match failure {
        HostFailure::Silent => LoginReason::HostSilent,
        HostFailure::TooLong => LoginReason::HostTooLong,
        HostFailure::CrossOriginRedirect => LoginReason::HostRedirectsElsewhere,
        HostFailure::TooManyRedirects => LoginReason::HostRedirects,
        HostFailure::Status(status) => LoginReason::HostAnswered {
            status: *status,
            said: "".into(),
        },
        HostFailure::Said { status, said } => LoginReason::HostAnswered {
            status: *status,
            said: said.into(),
        },
    };
    reason.detail().into()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn host(why: HostFailure) -> UnreachableLogin {
        let host = "auth.example".to_owned();
        UnreachableLogin::Host { host, why }
    }

    #[test]
    fn a_reason_says_what_the_protocol_says() {
        let check = |why: UnreachableLogin| {
            let told = LoginReason::of_unreachable(&why).message;
            assert_eq!(told, why.to_string());
        };
        check(UnreachableLogin::Said("slow_down".into()));
        check(UnreachableLogin::Status(503));
        check(UnreachableLogin::Timeout);
        check(UnreachableLogin::NoMetadata("https://a.example".into()));
        check(UnreachableLogin::HttpClient("no roots".into()));
        check(UnreachableLogin::Registration {
            client: "Tenon".into(),
            why: HostFailure::Silent,
        });
        check(host(HostFailure::TooLong));
        check(host(HostFailure::CrossOriginRedirect));
        check(host(HostFailure::TooManyRedirects));
        check(host(HostFailure::Status(404)));
        check(host(HostFailure::Said {
            status: 400,
            said: "no".into(),
        }));
        for why in [
            RegistrationRefusal::NotOffered,
            RegistrationRefusal::Answered(HostFailure::Status(403)),
            RegistrationRefusal::NoClient,
        ] {
            assert_eq!(LoginReason::of_refusal(&why).message, why.to_string());
        }
        for why in [
            RefusedLogin::Said("access_denied".into()),
            RefusedLogin::Status(302),
            RefusedLogin::NoToken,
            RefusedLogin::InvalidToken,
            RefusedLogin::TokenType {
                client: "Tenon".into(),
            },
        ] {
            let told = LoginReason::of_refused(&why).to_string();
            assert_eq!(told, why.to_string());
        }
        for why in [
            EndedLogin::Said("invalid_grant".into()),
            EndedLogin::NotRenewable,
            EndedLogin::LoggedOut,
        ] {
            let told = LoginReason::of_ended(&why).to_string();
            assert_eq!(told, why.to_string());
        }
        let named = |flaw| UntrustedLogin::NamedAddress {
            flaw,
            address: "ftp://a".into(),
        };
        for why in [
            named(AddressFlaw::TooLong),
            named(AddressFlaw::Invalid),
            named(AddressFlaw::NotHttps),
            named(AddressFlaw::Local),
            UntrustedLogin::ServerAddress,
            UntrustedLogin::NoIssuer,
            UntrustedLogin::OtherIssuer {
                named: "a".into(),
                expected: "b".into(),
            },
            UntrustedLogin::OtherResource("https://a.example".into()),
            UntrustedLogin::ClientSecret,
            UntrustedLogin::NoCodes,
            UntrustedLogin::NoPkce,
            UntrustedLogin::OtherSender,
        ] {
            assert_eq!(LoginReason::of_untrusted(&why).message, why.to_string());
        }
    }
}
