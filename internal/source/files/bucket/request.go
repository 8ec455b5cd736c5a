package bucket

import (
	"context"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/smithy-go"

	"github.com/keyheat/keyheat/internal/aws/awserror"
	"github.com/keyheat/keyheat/internal/daemon"
	"github.com/keyheat/keyheat/internal/say/wording"
)

const (
	// requestTimeout bounds a request, and the reading of its part.
	requestTimeout = time.Minute
	// maxTries is how often a request is sent while it fails for other reasons than
	// throttling.
	maxTries = 8
)

// Pauses before a request is repeated.
var firstPause, longestPause = 200 * time.Millisecond, 20 * time.Second

// errBroken means that the connection ended before the end of the part.
var errBroken = errors.New("the connection broke off")

// ask sends a request until it succeeds or fails for good, and counts each try. Throttled
// requests are repeated without a limit, with growing pauses.
func (r *Reader) ask(ctx context.Context, counter func(*status) *int64, do func(context.Context) error) error {
	pauses := daemon.NewBackOff(firstPause, longestPause)
	for tries := 1; ; {
		err := r.try(ctx, do)
		throttled := isThrottled(err)
		r.note(func(s *status) {
			*counter(s)++
			if throttled {
				s.throttled++
			}
		})
		switch {
		case err == nil, ctx.Err() != nil:
			return err
		case throttled:
		case !isTemporary(err) || tries == maxTries:
			return err
		default:
			tries++
		}
		daemon.Pause(ctx, pauses.NextBackOff())
	}
}

func (r *Reader) try(ctx context.Context, do func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	return do(ctx)
}

func isThrottled(err error) bool {
	var failed smithy.APIError
	if !errors.As(err, &failed) {
		return false
	}
	_, throttled := retry.DefaultThrottleErrorCodes[failed.ErrorCode()]
	return throttled
}

func isTemporary(err error) bool {
	return errors.Is(err, errBroken) || errors.Is(err, context.DeadlineExceeded) ||
		retry.IsErrorRetryables(retry.DefaultRetryables).IsErrorRetryable(err) == aws.TrueTernary
}

// page lists up to 1,000 objects.
func (r *Reader) page(ctx context.Context, in *s3.ListObjectsV2Input) (page *s3.ListObjectsV2Output, err error) {
	if n := r.now().lists; n >= maxLists {
		return nil, fmt.Errorf("%s LIST requests (%s) do not list all of %s: give a longer prefix",
			wording.Count(n), wording.Dollars(requestCost(0, n)), Scheme+aws.ToString(in.Bucket))
	}
	err = r.ask(ctx, func(s *status) *int64 { return &s.lists }, func(ctx context.Context) (err error) {
		page, err = r.api.ListObjectsV2(ctx, in)
		return err
	})
	if err != nil {
		return nil, r.explain("ListObjectsV2", aws.ToString(in.Bucket), err)
	}
	return page, nil
}

// get reads a part of an object, of the listed version.
func (r *Reader) get(ctx context.Context, o *object, from, n int64) (data []byte, err error) {
	in := &s3.GetObjectInput{Bucket: &o.bucket, Key: &o.key}
	if o.etag != "" {
		in.IfMatch = &o.etag
	}
	if n < o.size {
		in.Range = aws.String(fmt.Sprintf("bytes=%d-%d", from, from+n-1))
	}
	err = r.ask(ctx, func(s *status) *int64 { return &s.gets }, func(ctx context.Context) error {
		out, err := r.api.GetObject(ctx, in)
		if err != nil {
			return err
		}
		defer out.Body.Close()
		if data == nil {
			data = make([]byte, n)
		}
		read, err := io.ReadFull(out.Body, data)
		r.note(func(s *status) { s.transferred += int64(read) })
		if err != nil {
			return fmt.Errorf("%w: %w", errBroken, err)
		}
		return nil
	})
	if err != nil {
		return nil, r.explain("GetObject", o.bucket, err)
	}
	return data, nil
}

// Meanings of an error for other requests.
var (
	errDenied = errors.New("denied")
	errForAll = errors.New("no request will be answered")
)

// marked is an error with its meaning for other requests.
type marked struct {
	error
	mark error
}

func (m marked) Is(target error) bool { return target == m.mark }
func (m marked) Unwrap() error        { return m.error }

// explain returns a sentence with the fault and the remedy.
func (r *Reader) explain(operation, bucket string, err error) error {
	if err := awserror.ErrUnanswered(err); err != nil {
		return marked{fmt.Errorf("%s: %w", operation, err), errForAll}
	}
	if err := awserror.Unreadable(err, "S3"); err != nil {
		return marked{fmt.Errorf("%s: %w", operation, err), errForAll}
	}
	var failed smithy.APIError
	if !errors.As(err, &failed) {
		return fmt.Errorf("%s: %w", operation, awserror.Inert(err))
	}
	if region := regionOf(err, failed); region != "" && region != r.region {
		return marked{fmt.Errorf("the bucket %s is in %s, and the settings say %s: set AWS_REGION=%s", bucket, region, r.region, region), errForAll}
	}
	if refused := awserror.ErrRefused(failed.ErrorCode()); refused != nil {
		return marked{fmt.Errorf("%s: %w", operation, refused), errForAll}
	}
	switch code := failed.ErrorCode(); code {
	case "NoSuchBucket":
		return marked{fmt.Errorf("there is no bucket %s: correct its name (s3://BUCKET/PREFIX), or see aws s3 ls", bucket), errForAll}
	case "PermanentRedirect", "IllegalLocationConstraintException", "AuthorizationHeaderMalformed":
		return marked{fmt.Errorf("the bucket %s is not in %s: set AWS_REGION to its Region", bucket, r.region), errForAll}
	case "AccessDenied", "AllAccessDisabled", "Forbidden":
		return marked{errors.New(explainDenied(operation, bucket, failed.ErrorMessage())), errDenied}
	case "NoSuchKey":
		return errors.New("it was deleted after it was listed")
	case "PreconditionFailed":
		return errors.New("it was replaced after it was listed: read it again")
	case "InvalidObjectState":
		return errors.New("it is archived: restore it, as with aws s3api restore-object")
	default:
		return fmt.Errorf("%s: %s: %s", operation, wording.Printable(code), wording.Printable(failed.ErrorMessage()))
	}
}

// explainDenied names the missing permission.
func explainDenied(operation, bucket, message string) string {
	switch {
	case strings.Contains(message, "kms:"):
		return operation + " is denied: allow kms:Decrypt on the key that encrypts the objects to this role"
	case operation == "GetObject":
		return "GetObject is denied: allow s3:GetObject on arn:aws:s3:::" + bucket + "/* to this role, and kms:Decrypt where a key of KMS encrypts the objects"
	}
	return "ListObjectsV2 is denied: allow s3:ListBucket on arn:aws:s3:::" + bucket + " to this role, and in the bucket's policy if it is another account's"
}

// expecting matches S3's name of the Region that the signature should have.
var expecting = regexp.MustCompile(`expecting '([a-z0-9-]+)'`)

// regionOf returns the Region of the bucket, if an error names it.
func regionOf(err error, failed smithy.APIError) string {
	var response *awshttp.ResponseError
	if errors.As(err, &response) && response.Response != nil && response.Response.Response != nil {
		if region := response.Response.Header.Get("X-Amz-Bucket-Region"); region != "" && failed.ErrorCode() != "AccessDenied" {
			return region
		}
	}
	if match := expecting.FindStringSubmatch(failed.ErrorMessage()); match != nil {
		return match[1]
	}
	return ""
}
