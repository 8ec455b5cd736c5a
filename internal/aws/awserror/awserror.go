// Package awserror explains failures of requests to AWS in a sentence: every service
// refuses credentials with the same error names and is unreachable in the same ways.
package awserror

import (
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"

	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	"github.com/aws/smithy-go"
)

// The faults of credentials.
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
		"InvalidSignatureException", "SignatureDoesNotMatch", "IncompleteSignatureException", "IncompleteSignature", "RequestTimeTooSkewed", "InvalidToken",
	}},
	{ErrNone, []string{"MissingAuthenticationTokenException", "MissingAuthenticationToken"}},
}

// ErrRefused returns the fault of the credentials behind the code of a service's error;
// nil for other codes.
func ErrRefused(code string) error {
	for _, c := range codes {
		if slices.Contains(c.codes, code) {
			return c.meaning
		}
	}
	return nil
}

// ErrUnanswered returns an error for one of the SDK's that means that there was no response;
// nil for any other. It has nothing in it that differs from request to request.
func ErrUnanswered(err error) error {
	var response *awshttp.ResponseError
	if !errors.As(err, &response) || response.HTTPStatusCode() != 0 { // how the SDK reports it
		return nil
	}
	// The innermost error names no port that differs.
	for inner := errors.Unwrap(err); inner != nil; inner = errors.Unwrap(err) {
		err = inner
	}
	return fmt.Errorf("no answer: %w: check the region, the endpoint and the network", err)
}

// Unreadable returns an error for one of the SDK's that means that a response is not in the
// service's protocol, or longer than any of its own; nil for any other.
func Unreadable(err error, service string) error {
	if _, large := errors.AsType[*http.MaxBytesError](err); large {
		return fmt.Errorf("the answer has more than %d MiB, which %s's never have: does AWS_ENDPOINT_URL name the right server?", MaxResponse>>20, service)
	}
	var malformed *smithy.DeserializationError
	_, broken := errors.AsType[*net.OpError](err)
	if !errors.As(err, &malformed) || broken || errors.Is(err, io.ErrUnexpectedEOF) { // or it was cut off
		return nil
	}
	return fmt.Errorf("the endpoint does not speak %s's protocol: does AWS_ENDPOINT_URL name a stand-in that has no %s, or an old one?", service, service)
}

// Explain returns a sentence for an error of the SDK: the cause and the remedy. A caller
// gives its own errors for a role without the permission and for a missing resource.
func Explain(operation, service string, err, denied, missing error) error {
	var failed smithy.APIError
	switch {
	case ErrUnanswered(err) != nil:
		return fmt.Errorf("%s: %w", operation, ErrUnanswered(err))
	case Unreadable(err, service) != nil:
		return fmt.Errorf("%s: %w", operation, Unreadable(err, service))
	case !errors.As(err, &failed):
		return fmt.Errorf("%s: %w", operation, Inert(err))
	case strings.HasPrefix(failed.ErrorCode(), "AccessDenied"), failed.ErrorCode() == "UnauthorizedOperation":
		return denied
	case strings.HasPrefix(failed.ErrorCode(), "ResourceNotFound"):
		return missing
	case ErrRefused(failed.ErrorCode()) != nil:
		return fmt.Errorf("%s: %w", operation, ErrRefused(failed.ErrorCode()))
	}
	return fmt.Errorf("%s: %s", operation, Text(failed))
}
