package awserror

import (
	"context"
	"net/http"

	"github.com/aws/smithy-go"
	"github.com/aws/smithy-go/middleware"
	smithyhttp "github.com/aws/smithy-go/transport/http"

	"github.com/keyheat/keyheat/internal/say/wording"
)

// MaxResponse is the most bytes that are read of a response. The largest response is a
// listing of S3: 1,000 keys of 1 KB, of which XML may write each byte with six.
const MaxResponse = 16 << 20

// LimitResponse makes a client refuse a response of more than [MaxResponse] bytes: the SDK reads each
// response whole, and an endpoint that is not AWS may never end one. It belongs into
// aws.Config's APIOptions.
func LimitResponse(stack *middleware.Stack) error {
	return stack.Deserialize.Add(middleware.DeserializeMiddlewareFunc("BoundResponse", func(
		ctx context.Context, in middleware.DeserializeInput, next middleware.DeserializeHandler,
	) (out middleware.DeserializeOutput, metadata middleware.Metadata, err error) {
		out, metadata, err = next.HandleDeserialize(ctx, in)
		if r, is := out.RawResponse.(*smithyhttp.Response); is && r != nil && r.Body != nil {
			r.Body = http.MaxBytesReader(nil, r.Body, MaxResponse)
		}
		return out, metadata, err
	}), middleware.After)
}

// maxText is how many characters of an error's code and message are kept.
const maxText = 300

// Text returns the code and the message of a service's error. Whoever answers has written
// them: they are cut, and do nothing but be read.
func Text(err smithy.APIError) string {
	return wording.Printable(wording.Shorten(err.ErrorCode()+": "+err.ErrorMessage(), maxText))
}

// Inert returns an error of the SDK's whose text does nothing but be read. The SDK repeats
// the Region that it refuses, and a sample may have named that.
func Inert(err error) error { return inert{err} }

type inert struct{ error }

func (i inert) Error() string { return wording.Printable(i.error.Error()) }

func (i inert) Unwrap() error { return i.error }
