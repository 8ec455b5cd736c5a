package awserror_test

import (
	"errors"
	"testing"

	"github.com/keyheat/keyheat/internal/aws/awserror"
)

func TestRefused(t *testing.T) {
	t.Parallel()
	for code, want := range map[string]error{
		"ExpiredTokenException":       awserror.ErrExpired,
		"UnrecognizedClientException": awserror.ErrInvalid,
		"MissingAuthenticationToken":  awserror.ErrNone,
		"AccessDeniedException":       nil,
		"ThrottlingException":         nil,
	} {
		if got := awserror.ErrRefused(code); !errors.Is(got, want) {
			t.Errorf("%s: %v, want %v", code, got, want)
		}
	}
}

// Another error than one without a response is left alone.
func TestAnswered(t *testing.T) {
	t.Parallel()
	if err := awserror.ErrUnanswered(errors.New("some other")); err != nil {
		t.Error(err)
	}
}
