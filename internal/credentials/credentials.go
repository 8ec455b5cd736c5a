// Package credentials says in a sentence what is wrong with the credentials of requests
// to AWS. Every service refuses them under the same names.
package credentials

import (
	"errors"
	"slices"
)

// What may be wrong with credentials.
var (
	ErrExpired = errors.New("the AWS credentials have expired: get new ones, as with aws sso login")
	ErrInvalid = errors.New("AWS refuses the credentials: check AWS_PROFILE, or AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY and AWS_SESSION_TOKEN, and this machine's clock")
	ErrNone    = errors.New("there are no AWS credentials: set AWS_PROFILE, or AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or log in with aws sso login")
)

// codes are the names of the errors with which services refuse credentials.
var codes = []struct {
	meaning error
	codes   []string
}{
	{ErrExpired, []string{"ExpiredTokenException", "ExpiredToken"}},
	{ErrInvalid, []string{
		"UnrecognizedClientException", "InvalidClientTokenId", "InvalidAccessKeyId",
		"InvalidSignatureException", "SignatureDoesNotMatch", "IncompleteSignatureException", "IncompleteSignature",
	}},
	{ErrNone, []string{"MissingAuthenticationTokenException", "MissingAuthenticationToken"}},
}

// Refused returns what the code of a service's error says of the credentials; nil when it
// is about something else.
func Refused(code string) error {
	for _, c := range codes {
		if slices.Contains(c.codes, code) {
			return c.meaning
		}
	}
	return nil
}
