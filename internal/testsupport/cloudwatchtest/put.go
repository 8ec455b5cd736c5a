package cloudwatchtest

import (
	"compress/gzip"
	"fmt"
	"io"
	"math"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/cloudwatch"
	"github.com/aws/smithy-go/encoding/cbor"
	"github.com/aws/smithy-go/middleware"

	"github.com/keyheat/keyheat/internal/aws/awserror"
)

// The documented limits of PutMetricData.
const (
	maxData       = 1000
	maxDimensions = 30
	oldest        = 14 * 24 * time.Hour
)

// Written is a datum that PutMetricData has brought.
type Written struct {
	Region, Namespace, Name string
	// Dimensions are NAME=VALUE, in order.
	Dimensions string
	At         time.Time
	Unit       string
	Value      float64
}

// puts is what PutMetricData has brought.
type puts struct {
	written []Written
	sizes   []int // how many data each call had
	away    map[string]Failure
}

// onlyConnections retries nothing but a connection that ended, as the SDK's own retryer
// does: the server may close one while the client still reads from it.
func onlyConnections() aws.Retryer {
	return retry.NewStandard(func(o *retry.StandardOptions) {
		o.Retryables = []retry.IsErrorRetryable{retry.RetryableConnectionError{}}
		o.Backoff = retry.BackoffDelayerFunc(func(int, error) (time.Duration, error) { return 0, nil })
	})
}

// ClientIn returns the SDK's client of a Region.
func (s *Server) ClientIn(region string) *cloudwatch.Client {
	return cloudwatch.New(cloudwatch.Options{
		Region: region, BaseEndpoint: aws.String(s.URL), Credentials: credentials.NewStaticCredentialsProvider("AKID", "secret", ""),
		Retryer: onlyConnections(), APIOptions: []func(*middleware.Stack) error{awserror.LimitResponse},
	})
}

// Away makes PutMetricData fail in a Region, until it is called with the zero Failure.
func (s *Server) Away(region string, f Failure) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.away == nil {
		s.away = make(map[string]Failure)
	}
	if s.away[region] = f; f == (Failure{}) {
		delete(s.away, region)
	}
}

// Written returns what PutMetricData has brought so far, and how many data each call had.
func (s *Server) Written() (all []Written, sizes []int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.written), slices.Clone(s.sizes)
}

var scope = regexp.MustCompile(`Credential=[^/]+/[0-9]+/([^/]+)/monitoring/aws4_request`)

// putMetricData takes a call. The caller holds mu.
func (s *Server) putMetricData(r *http.Request, in cbor.Map) (cbor.Map, *Failure) {
	invalid := func(format string, args ...any) *Failure {
		return &Failure{http.StatusBadRequest, "InvalidParameterValue", fmt.Sprintf(format, args...)}
	}
	found := scope.FindStringSubmatch(r.Header.Get("Authorization"))
	if found == nil {
		return nil, &Failure{http.StatusForbidden, "MissingAuthenticationToken", "the call is not signed for monitoring"}
	}
	if f, away := s.away[found[1]]; away {
		return nil, &f
	}
	namespace, _ := in["Namespace"].(cbor.String)
	data, _ := in["MetricData"].(cbor.List)
	if namespace == "" || strings.HasPrefix(string(namespace), "AWS/") {
		return nil, invalid("The value %s for parameter Namespace is invalid.", namespace)
	}
	if len(data) == 0 || len(data) > maxData {
		return nil, invalid("The collection MetricData must not have a size greater than %d.", maxData)
	}
	var all []Written
	for _, v := range data {
		d, _ := v.(cbor.Map)
		name, _ := d["MetricName"].(cbor.String)
		unit, _ := d["Unit"].(cbor.String)
		value, err1 := cbor.AsFloat64(d["Value"])
		at, err2 := cbor.AsTime(d["Timestamp"])
		dimensions, _ := d["Dimensions"].(cbor.List)
		switch {
		case name == "" || err1 != nil || math.IsNaN(value) || math.IsInf(value, 0):
			return nil, invalid("The parameter MetricData.member has no name, or the value %v", d["Value"])
		case err2 != nil || time.Since(at) > oldest || time.Until(at) > 2*time.Hour:
			return nil, invalid("The parameter MetricData.member.Timestamp must specify a time within the past two weeks.")
		case len(dimensions) > maxDimensions:
			return nil, invalid("At most %d dimensions are allowed.", maxDimensions)
		}
		w := Written{Region: found[1], Namespace: string(namespace), Name: string(name), At: at, Unit: string(unit), Value: value}
		var pairs []string
		for _, v := range dimensions {
			pair, _ := v.(cbor.Map)
			name, _ := pair["Name"].(cbor.String)
			value, _ := pair["Value"].(cbor.String)
			if name == "" || value == "" {
				return nil, invalid("A dimension has no name or no value.")
			}
			pairs = append(pairs, string(name+"="+value))
		}
		w.Dimensions = strings.Join(pairs, ",")
		all = append(all, w)
	}
	s.written, s.sizes = append(s.written, all...), append(s.sizes, len(all))
	return cbor.Map{}, nil
}

// body returns what a request says: the SDK compresses large ones.
func body(r *http.Request) ([]byte, error) {
	if r.Header.Get("Content-Encoding") != "gzip" {
		return io.ReadAll(r.Body)
	}
	in, err := gzip.NewReader(r.Body)
	if err != nil {
		return nil, err
	}
	return io.ReadAll(in)
}
