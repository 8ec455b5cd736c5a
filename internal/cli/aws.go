package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	awsconfig "github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/smithy-go/logging"
	"github.com/aws/smithy-go/middleware"

	"github.com/keyheat/keyheat/internal/aws/awserror"
)

// AWS returns the SDK's own choice of region, endpoint and credentials, unless an option gives
// another one. Its clients bound the size of responses.
func AWS(ctx context.Context, with ...func(*awsconfig.LoadOptions) error) (aws.Config, error) {
	// The SDK's warnings, such as an unread rest of an answer, have no remedy; the
	// important faults are errors.
	with = append(with, awsconfig.WithLogger(logging.Nop{}), awsconfig.WithAPIOptions([]func(*middleware.Stack) error{awserror.LimitResponse}))
	c, err := awsconfig.LoadDefaultConfig(ctx, with...)
	switch {
	case err != nil:
		return c, fmt.Errorf("load the AWS SDK's settings: %w", err)
	case c.Region == "":
		return c, errors.New("no AWS region: set AWS_REGION, or region in the SDK's profile")
	}
	return c, nil
}

// credentialsTimeout bounds the search for credentials, which may ask servers.
const credentialsTimeout = 20 * time.Second

// AWSWithCredentials is AWS, and an error where there are no credentials. Its errors are
// [Wrong].
func AWSWithCredentials(ctx context.Context, with ...func(*awsconfig.LoadOptions) error) (aws.Config, error) {
	c, err := AWS(ctx, with...)
	if err != nil {
		return c, Wrong(err)
	}
	ctx, cancel := context.WithTimeout(ctx, credentialsTimeout)
	defer cancel()
	if _, err = c.Credentials.Retrieve(ctx); err == nil {
		return c, nil
	}
	// The search ends at a server of EC2, which other machines do not have.
	if text := err.Error(); !strings.Contains(text, "IMDS") {
		return c, Wrong(fmt.Errorf("%w (%s)", awserror.ErrNone, text))
	}
	return c, Wrong(awserror.ErrNone)
}
