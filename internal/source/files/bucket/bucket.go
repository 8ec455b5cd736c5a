// Package bucket reads files from S3. It lists the objects under s3://BUCKET/PREFIX and
// hands them out in the order of their names. It writes nothing to S3.
//
// # Memory and rate
//
// Objects are fetched ahead, in parts of partSize. At most atOnce parts are requested or unread.
// Each part is a request that can be repeated by itself. The pauses between refused requests
// grow.
//
// # CloudTrail
//
// A trail has its objects under AWSLogs/ACCOUNT/CloudTrail/REGION/YYYY/MM/DD/, with or
// without a prefix. A trail of an organization has the organization's ID before the
// account. The package lists only the days of a trail that Last reaches back to. Everywhere
// it leaves out objects written before Last, because they hold no later events.
package bucket

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"

	"github.com/keyheat/keyheat/internal/cli/terminal"
	"github.com/keyheat/keyheat/internal/say/wording"
)

// Scheme begins a path in S3.
const Scheme = "s3://"

// API is the used part of S3's API; *s3.Client implements it.
type API interface {
	ListObjectsV2(context.Context, *s3.ListObjectsV2Input, ...func(*s3.Options)) (*s3.ListObjectsV2Output, error)
	GetObject(context.Context, *s3.GetObjectInput, ...func(*s3.Options)) (*s3.GetObjectOutput, error)
}

// NewClient returns a client that sends each request once: this package repeats requests,
// and counts their cost.
func NewClient(settings aws.Config) *s3.Client {
	return s3.NewFromConfig(settings, func(o *s3.Options) {
		o.Retryer = aws.NopRetryer{}
		// Servers that are not S3 have no host name for each bucket.
		o.UsePathStyle = o.UsePathStyle || o.BaseEndpoint != nil
		// S3 has no checksum of a part.
		o.ResponseChecksumValidation = aws.ResponseChecksumValidationWhenRequired
	})
}

// Options selects the objects to read.
type Options struct {
	// Last limits the reading to objects written within this time up to now; 0 for all.
	Last time.Duration
	Out  io.Writer
}

// Reader reads the objects under some prefixes once. It implements files.Remote.
type Reader struct {
	Options
	api    API
	region string
	paths  []string // as they were given
	out    terminal.Progress

	objects  []object
	bytes    int64 // of all objects
	archived int   // objects that have to be restored first

	mu     sync.Mutex
	status status
}

type status struct {
	listed             int // objects seen
	lists, gets        int64
	throttled          int64
	objects            int   // read to their end
	bytes, transferred int64 // read of the objects; sent by S3
	since              time.Time
}

// New returns a reader that has made no request yet. The region is the client's.
func New(api API, region string, o Options) *Reader {
	return &Reader{Options: o, api: api, region: region, out: terminal.Progress{Out: o.Out}}
}

// Names implements files.Remote.
func (r *Reader) Names(path string) bool { return strings.HasPrefix(path, Scheme) }

// CheckPath returns the fault of a path that [Reader.Names] accepts.
func CheckPath(path string) error {
	_, err := parse(path)
	return err
}

// Find implements files.Remote. It announces the objects and their cost.
func (r *Reader) Find(ctx context.Context, paths []string) error {
	r.paths = paths
	drawn := r.out.Draw(ctx, terminal.TellEvery, func() string {
		s := r.now()
		return fmt.Sprintf("listing, %s, %s requests", objects(s.listed), wording.Count(s.lists))
	})
	err := r.find(ctx)
	drawn()
	switch {
	case ctx.Err() != nil:
		return errors.New("interrupted: the objects are not listed yet")
	case err != nil:
		return err
	}
	r.out.Paragraph(r.announcement())
	return nil
}

// Each implements files.Remote.
func (r *Reader) Each(ctx context.Context, read func(path string, body io.ReadCloser) error) error {
	r.note(func(s *status) { s.since = time.Now() })
	drawn := r.out.Draw(ctx, terminal.TellEvery, func() string { return r.line(r.now()) })
	defer drawn()
	done, err := r.fetch(ctx, read)
	progress := fmt.Sprintf("%s of %s were read to their end", wording.Count(int64(done)), objects(len(r.objects)))
	switch {
	case ctx.Err() != nil:
		return fmt.Errorf("interrupted: %s", progress)
	case err != nil && done > 0:
		return fmt.Errorf("%w; %s", err, progress)
	case err != nil:
		return err
	case r.archived > 0:
		return r.errArchived()
	}
	return nil
}

// errArchived reports the archived objects, which cannot be read.
func (r *Reader) errArchived() error {
	return fmt.Errorf("archived in S3 Glacier, and not read: %s: restore them, as with aws s3api restore-object", objects(r.archived))
}

func objects(n int) string {
	if n == 1 {
		return "1 object"
	}
	return wording.Count(int64(n)) + " objects"
}

func (r *Reader) announcement() string {
	gets := int64(0)
	for i := range r.objects {
		gets += r.objects[i].parts()
	}
	return fmt.Sprintf("Reading %s: %s, %s. It takes %s GET requests after %s LIST requests: %s in US East "+
		"for S3 Standard. The transfer costs nothing within the bucket's Region, %s to another Region and %s to the "+
		"internet. Ctrl-C ends it with the verdict on what was read, a second one at once.",
		wording.List(r.paths), objects(len(r.objects)), size(r.bytes), wording.Count(gets), wording.Count(r.now().lists),
		wording.Dollars(requestCost(gets, r.now().lists)), wording.Dollars(gigabytes(r.bytes)*dollarsPerGBBetweenRegions), wording.Dollars(gigabytes(r.bytes)*dollarsPerGBToInternet))
}

// Notes describes the objects read and their cost.
func (r *Reader) Notes() []string {
	s := r.now()
	if s.lists == 0 {
		return nil
	}
	throttled := ""
	if s.throttled > 0 {
		throttled = fmt.Sprintf("; %s were throttled, and repeated", wording.Count(s.throttled))
	}
	return []string{fmt.Sprintf("Read from %s: %s of %s. Requests: %s GET and %s LIST, which cost %s in US East for S3 Standard, "+
		"beside the transfer of %s%s.", wording.List(r.paths), wording.Count(int64(s.objects)), objects(len(r.objects)),
		wording.Count(s.gets), wording.Count(s.lists), wording.Dollars(requestCost(s.gets, s.lists)), size(s.transferred), throttled)}
}

// line describes the progress within the width of a line.
func (r *Reader) line(s status) string {
	line := fmt.Sprintf("%d%%", 100*s.bytes/max(1, r.bytes))
	more := []string{
		fmt.Sprintf("%s of %s", wording.Count(int64(s.objects)), objects(len(r.objects))),
		fmt.Sprintf("%s of %s", size(s.bytes), size(r.bytes)),
	}
	if s.bytes > 0 {
		left := time.Duration(float64(time.Since(s.since)) * float64(r.bytes-s.bytes) / float64(s.bytes))
		more = append(more, "about "+wording.Span(left)+" left")
	}
	if s.throttled > 0 {
		more = append(more, wording.Count(s.throttled)+" throttled")
	}
	return terminal.Line(line, more)
}

func (r *Reader) note(change func(*status)) {
	r.mu.Lock()
	defer r.mu.Unlock()
	change(&r.status)
}

func (r *Reader) now() status {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.status
}
