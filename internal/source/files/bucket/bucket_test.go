package bucket_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"github.com/keyheat/keyheat/internal/aws/awserror"
	"github.com/keyheat/keyheat/internal/source"
	"github.com/keyheat/keyheat/internal/source/files"
	"github.com/keyheat/keyheat/internal/source/files/bucket"
	"github.com/keyheat/keyheat/internal/testsupport/buckettest"
	"github.com/keyheat/keyheat/internal/testsupport/hostile"
	"github.com/keyheat/keyheat/internal/testsupport/kafkatest"
	"github.com/keyheat/keyheat/internal/testsupport/must"
	"github.com/keyheat/keyheat/internal/testsupport/sinktest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// reading is the result of one reading.
type reading struct {
	sink  *sinktest.Recorder
	said  string // before
	notes string // after
	err   error
}

// read reads paths in a bubble's time, from a bucket called logs.
func read(ctx context.Context, s *buckettest.Server, last time.Duration, paths ...string) *reading {
	var out bytes.Buffer
	r := bucket.New(bucket.NewClient(s.Config()), "eu-west-1", bucket.Options{Last: last, Out: &out})
	got := &reading{sink: sinktest.New()}
	got.err = (&files.Source{Paths: paths, Remote: r}).Run(ctx, got.sink)
	got.said, got.notes = strings.Join(strings.Fields(out.String()), " "), strings.Join(r.Notes(), " ")
	return got
}

// counted are the samples n, each with how often it was counted; other messages as they are.
func (r *reading) counted() map[string]int {
	out := make(map[string]int)
	r.sink.With(func() {
		for m, times := range r.sink.Counted {
			for line := range strings.Lines(m) {
				out[strings.TrimSpace(line)] += times
			}
		}
	})
	return out
}

func (r *reading) gaps() (all []string) {
	for _, g := range r.sink.Gaps() {
		all = append(all, g.Reason)
	}
	return all
}

// inBubble runs a test beside a server, on virtual time.
func inBubble(t *testing.T, test func(*testing.T, *buckettest.Server)) {
	t.Helper()
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		time.Sleep(time.Until(time.Date(2026, 11, 21, 1, 0, 0, 0, time.UTC)))
		test(t, &buckettest.Server{Bucket: "logs"})
	})
}

// lines returns n samples, numbered from a start.
func lines(from, n int) []byte {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "{\"n\":%d}\n", from+i)
	}
	return []byte(b.String())
}

func (r *reading) expect(t *testing.T, n int, gaps ...string) {
	t.Helper()
	if r.err != nil {
		t.Fatal(r.err)
	}
	got := r.counted()
	for i := range n {
		if line := fmt.Sprintf(`{"n":%d}`, i); got[line] != 1 {
			t.Fatalf("%s was read %d times", line, got[line])
		}
	}
	if len(got) != n {
		t.Errorf("%d lines, want %d", len(got), n)
	}
	if !slices.Equal(r.gaps(), gaps) {
		t.Errorf("gaps %q, want %q", r.gaps(), gaps)
	}
}

// TestObjectsAreReadOnce: objects of every compression, smaller and larger than a part, in
// several pages of a listing, are read once each.
func TestObjectsAreReadOnce(t *testing.T) {
	inBubble(t, func(t *testing.T, s *buckettest.Server) {
		s.PageKeys = 7
		random := rand.New(rand.NewPCG(3, 3))
		n := 0
		for i := range 50 {
			body, many := []byte(nil), random.IntN(300)
			if i == 20 {
				many = 1_000_000 // of 14 MB: parts
			}
			codec := []kafkatest.Codec{kafkatest.None, kafkatest.Gzip, kafkatest.Zstd}[i%3]
			if i == 20 {
				codec = kafkatest.None
			}
			if body = lines(n, many); many > 0 {
				body = kafkatest.Compress(codec, body)
			}
			n += many
			s.Put(buckettest.Object{Key: fmt.Sprintf("day/%02d", i), Body: body})
		}
		s.Put(buckettest.Object{Key: "other", Body: []byte("no")})
		got := read(t.Context(), s, 0, "s3://logs/day/")
		got.expect(t, n)
		if most := s.AtOnce(); most > 10 {
			t.Errorf("%d requests at once", most)
		}
		if !strings.Contains(got.said, "Reading s3://logs/day/: ") || !strings.Contains(got.said, "The transfer costs nothing within") {
			t.Errorf("before: %s", got.said)
		}
		gets := 0
		for _, request := range s.Requests() {
			if strings.HasPrefix(request, "GetObject") {
				gets++
			}
		}
		if want := fmt.Sprintf("Requests: %d GET and 8 LIST, which cost less than $0.01", gets); !strings.Contains(got.notes, want) || !strings.Contains(got.said, fmt.Sprintf("It takes %d GET requests after 8 LIST", gets)) {
			t.Errorf("want %q in %s\nbefore: %s", want, got.notes, got.said)
		}
	})
}

// TestMemoryIsBounded reads slowly: the unread bytes stay within the budget.
func TestMemoryIsBounded(t *testing.T) {
	inBubble(t, func(t *testing.T, s *buckettest.Server) {
		body := lines(0, 300_000) // some 4 MB
		for i := range 60 {
			s.Put(buckettest.Object{Key: fmt.Sprintf("%02d", i), Body: body})
		}
		s.Hold = func(string) { time.Sleep(50 * time.Millisecond) }
		r := bucket.New(bucket.NewClient(s.Config()), "eu-west-1", bucket.Options{Out: new(bytes.Buffer)})
		slow := &slowSink{Recorder: sinktest.New(), wait: time.Second}
		fetched := 0
		slow.look = func(read int) {
			fetched = max(fetched, len(s.Requests())-read)
		}
		must.Succeed(t, (&files.Source{Paths: []string{"s3://logs"}, Remote: r}).Run(t.Context(), slow))
		if fetched < 5 || fetched > 14 { // 48 MB
			t.Errorf("up to %d objects were fetched ahead", fetched)
		}
		if most := s.AtOnce(); most < 5 || most > 10 {
			t.Errorf("up to %d requests at once", most)
		}
	})
}

func TestFaultsThatPass(t *testing.T) {
	slow := buckettest.Fault{Status: 503, Code: "SlowDown", Message: "Please reduce your request rate."}
	broken := buckettest.Fault{Status: 500, Code: "InternalError"}
	inBubble(t, func(t *testing.T, s *buckettest.Server) {
		s.Put(buckettest.Object{Key: "a", Body: lines(0, 500)})
		s.Put(buckettest.Object{Key: "b", Body: lines(500, 500)})
		s.Fail("ListObjectsV2", slow, broken)
		s.Fail("GetObject a", slices.Repeat([]buckettest.Fault{slow}, 30)...)
		s.Fail("GetObject b", broken, buckettest.Fault{Cut: 100}, broken)
		began := time.Now()
		got := read(t.Context(), s, 0, "s3://logs")
		got.expect(t, 1000)
		if took := time.Since(began); took < time.Minute {
			t.Errorf("30 throttled requests were repeated within %s", took)
		}
		if !strings.Contains(got.notes, "Requests: 35 GET and 3 LIST") || !strings.Contains(got.notes, "31 were throttled, and repeated") {
			t.Error(got.notes)
		}
		if !strings.Contains(got.said, " throttled") { // how many by then depends on the pauses
			t.Errorf("the progress is %s", got.said)
		}
	})
}

// TestFaultsOfOneObject damages one object: it becomes a gap, and the others are read.
func TestFaultsOfOneObject(t *testing.T) {
	inBubble(t, func(t *testing.T, s *buckettest.Server) {
		s.Put(buckettest.Object{Key: "a", Body: lines(0, 5)})
		s.Put(buckettest.Object{Key: "b", Body: []byte("PAR1" + strings.Repeat("x", 20<<20))})
		s.Put(buckettest.Object{Key: "c", Body: lines(5, 500_000)})
		s.Put(buckettest.Object{Key: "d", Body: lines(6, 1)})
		s.Put(buckettest.Object{Key: "e", Body: lines(6, 1)})
		s.Put(buckettest.Object{Key: "f", Body: lines(5, 5), Class: "GLACIER"})
		s.Put(buckettest.Object{Key: "g", Body: lines(5, 5)})
		s.Fail("GetObject c", buckettest.Fault{Status: 404, Code: "NoSuchKey"}, buckettest.Fault{Status: 404, Code: "NoSuchKey"})
		s.Fail("GetObject d", buckettest.Fault{Status: 412, Code: "PreconditionFailed"})
		s.Fail("GetObject e", buckettest.Fault{Status: 403, Code: "AccessDenied", Message: "not authorized to perform: kms:Decrypt"})
		got := read(t.Context(), s, 0, "s3://logs")
		got.expect(t, 10,
			"it is Parquet: write it as CSV or JSON",
			"it was deleted after it was listed",
			"it was replaced after it was listed: read it again",
			"GetObject is denied: allow kms:Decrypt on the key that encrypts the objects to this role",
			"archived in S3 Glacier, and not read: 1 object: restore them, as with aws s3api restore-object",
		)
		if !strings.Contains(got.notes, "2 of 6 objects") {
			t.Error(got.notes)
		}
	})
}

// TestFaultsOfTheBucket expects one sentence with the remedy for a fault of all objects.
func TestFaultsOfTheBucket(t *testing.T) {
	t.Parallel()
	denied := buckettest.Fault{Status: 403, Code: "AccessDenied", Message: "Access Denied"}
	for _, c := range []struct {
		path, of string
		fault    buckettest.Fault
		last     time.Duration
		want     string
	}{
		{"s3://log/day/", "", denied, 0, "s3://log/day/: there is no bucket log: correct its name (s3://BUCKET/PREFIX), or see aws s3 ls"},
		{"s3://", "", denied, 0, `s3://: "" is no name of a bucket: write s3://BUCKET/PREFIX`},
		{"s3://logs/none", "", denied, 0, "s3://logs/none: there are no objects under this prefix: see what there is with aws s3 ls s3://logs/"},
		{"s3://logs/*.csv", "", denied, 0, "s3://logs/*.csv: no object matches: see what there is with aws s3 ls s3://logs/"},
		{"s3://logs/", "", denied, 3 * time.Hour, "s3://logs/: no object was written in the last 3 h: see what there is with aws s3 ls s3://logs/"},
		{"s3://logs/cold", "", denied, 0, "archived in S3 Glacier, and not read: 1 object: restore them, as with aws s3api restore-object"},
		{"s3://logs", "ListObjectsV2", denied, 0, "s3://logs: ListObjectsV2 is denied: allow s3:ListBucket on arn:aws:s3:::logs to this role, and in the bucket's policy if it is another account's"},
		{"s3://logs", "GetObject", denied, 0, "GetObject is denied: allow s3:GetObject on arn:aws:s3:::logs/* to this role, and kms:Decrypt where a key of KMS encrypts the objects"},
		{"s3://logs", "ListObjectsV2", buckettest.Fault{Status: 301, Code: "PermanentRedirect", Region: "eu-central-1"}, 0, "s3://logs: the bucket logs is in eu-central-1, and the settings say eu-west-1: set AWS_REGION=eu-central-1"},
		{"s3://logs", "ListObjectsV2", buckettest.Fault{Status: 400, Code: "AuthorizationHeaderMalformed", Message: "the region 'eu-west-1' is wrong; expecting 'us-east-2'"}, 0, "s3://logs: the bucket logs is in us-east-2, and the settings say eu-west-1: set AWS_REGION=us-east-2"},
		{"s3://logs", "ListObjectsV2", buckettest.Fault{Status: 400, Code: "IllegalLocationConstraintException"}, 0, "s3://logs: the bucket logs is not in eu-west-1: set AWS_REGION to its Region"},
		{"s3://logs", "ListObjectsV2", buckettest.Fault{Status: 400, Code: "ExpiredToken"}, 0, "s3://logs: ListObjectsV2: the AWS credentials have expired: get new ones, as with aws sso login"},
		{"s3://logs", "GetObject", buckettest.Fault{Status: 403, Code: "RequestTimeTooSkewed"}, 0, "GetObject: AWS refuses the credentials: check AWS_PROFILE, or AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY and AWS_SESSION_TOKEN, and this machine's clock"},
	} {
		t.Run(c.want, func(t *testing.T) {
			inBubble(t, func(t *testing.T, s *buckettest.Server) {
				for i := range 30 {
					s.Put(buckettest.Object{Key: fmt.Sprint("day/", i), Body: lines(i, 1), Modified: time.Now().Add(-4 * time.Hour)})
				}
				s.Put(buckettest.Object{Key: "cold", Body: lines(0, 1), Class: "DEEP_ARCHIVE"})
				if c.of != "" {
					s.Fail(c.of, slices.Repeat([]buckettest.Fault{c.fault}, 40)...)
				}
				got := read(t.Context(), s, c.last, c.path)
				if got.err == nil || got.err.Error() != c.want {
					t.Errorf("%v\nwant %s", got.err, c.want)
				}
				if got.sink.Claims != 0 {
					t.Errorf("%d objects were begun", got.sink.Claims)
				}
			})
		})
	}
}

// TestReadingsThatEndEarly lets credentials expire, or presses Ctrl-C: the read objects
// count, and the rest is a gap.
func TestReadingsThatEndEarly(t *testing.T) {
	fill := func(s *buckettest.Server) {
		for i := range 100 {
			s.Put(buckettest.Object{Key: fmt.Sprintf("%03d", i), Body: lines(i, 1)})
		}
	}
	t.Run("expired", func(t *testing.T) {
		inBubble(t, func(t *testing.T, s *buckettest.Server) {
			fill(s)
			for i := 40; i < 100; i++ {
				s.Fail(fmt.Sprintf("GetObject %03d", i), buckettest.Fault{Status: 400, Code: "ExpiredToken"})
			}
			read(t.Context(), s, 0, "s3://logs").expect(t, 40, "GetObject: the AWS credentials have expired: "+
				"get new ones, as with aws sso login; 40 of 100 objects were read to their end")
		})
	})
	t.Run("interrupted", func(t *testing.T) {
		inBubble(t, func(t *testing.T, s *buckettest.Server) {
			fill(s)
			ctx, cancel := context.WithCancel(t.Context())
			s.Hold = func(key string) {
				if key == "060" {
					<-ctx.Done()
				}
			}
			go func() { synctest.Wait(); cancel() }()
			got := read(ctx, s, 0, "s3://logs")
			if gaps := got.gaps(); got.err != nil || len(got.counted()) != 60 || !slices.Contains(gaps, "interrupted: 60 of 100 objects were read to their end") {
				t.Errorf("%v, %d lines, %q", got.err, len(got.counted()), gaps)
			}
		})
	})
}

// slowSink takes its time for each object.
type slowSink struct {
	*sinktest.Recorder
	wait   time.Duration
	claims int
	look   func(begun int)
}

// Claim implements source.Sink.
func (s *slowSink) Claim(ctx context.Context, c source.Claim) (source.Partition, error) {
	s.claims++
	time.Sleep(s.wait)
	s.look(s.claims)
	return s.Recorder.Claim(ctx, c)
}

// TestOnlyTheDaysOfATrailAreListed: under CloudTrail's layout only the requested days are
// listed, in every account and Region, with a prefix of any length.
func TestOnlyTheDaysOfATrailAreListed(t *testing.T) {
	t.Parallel()
	const one, other = "AWSLogs/111122223333/CloudTrail/eu-west-1/", "AWSLogs/111122223333/CloudTrail/us-east-1/"
	const ofOrganization = "AWSLogs/o-abc123/444455556666/CloudTrail/eu-west-1/"
	for _, c := range []struct {
		path   string
		root   string // of the trail
		last   time.Duration
		listed []string // with objects in them, in any order
		n      int
	}{
		{"s3://logs", "", 3 * time.Hour, []string{one + "2026/11/20/", one + "2026/11/21/", other + "2026/11/20/", other + "2026/11/21/", ofOrganization + "2026/11/20/", ofOrganization + "2026/11/21/"}, 9},
		{"s3://logs/trails/main", "trails/main/", 3 * time.Hour, []string{one + "2026/11/20/", one + "2026/11/21/", other + "2026/11/20/", other + "2026/11/21/", ofOrganization + "2026/11/20/", ofOrganization + "2026/11/21/"}, 9},
		{"s3://logs/AWSLogs", "", 30 * time.Minute, []string{one + "2026/11/21/", other + "2026/11/21/", ofOrganization + "2026/11/21/"}, 3},
		{"s3://logs/AWSLogs/111122223333/", "", 30 * time.Minute, []string{one + "2026/11/21/", other + "2026/11/21/"}, 2},
		{"s3://logs/AWSLogs/o-abc123/", "", 30 * time.Minute, []string{ofOrganization + "2026/11/21/"}, 1},
		{"s3://logs/" + one, "", 26 * time.Hour, []string{one + "2026/11/19/", one + "2026/11/20/", one + "2026/11/21/"}, 26},
		{"s3://logs/" + one + "2026/11/", "", 30 * time.Minute, []string{one + "2026/11/21/"}, 1},
		{"s3://logs/" + one + "2026/11/20/", "", 3 * time.Hour, []string{one + "2026/11/20/"}, 2},
		{"s3://logs/" + one + "2026/11/20/f-2026-11-20-2", "", 3 * time.Hour, []string{one + "2026/11/20/f-2026-11-20-2"}, 2},
	} {
		t.Run(c.path+" "+c.last.String(), func(t *testing.T) {
			inBubble(t, func(t *testing.T, s *buckettest.Server) {
				n := 0
				for _, region := range []string{one, other, ofOrganization} {
					for hour := range 24 * 5 { // the last one is at 0:30
						at := time.Now().Add(-time.Duration(hour)*time.Hour - 30*time.Minute + time.Second)
						s.Put(buckettest.Object{
							Key:  c.root + region + at.UTC().Format("2006/01/02/") + "f-" + at.UTC().Format("2006-01-02-15"),
							Body: lines(n, 1), Modified: at,
						})
						n++
					}
				}
				s.Put(buckettest.Object{Key: c.root + "AWSLogs/111122223333/CloudTrail-Digest/eu-west-1/2026/11/21/d", Body: []byte("{}"), Modified: time.Now()})
				s.Put(buckettest.Object{Key: c.root + "AWSLogs/111122223333/elasticloadbalancing/eu-west-1/2026/11/21/l", Body: []byte("log"), Modified: time.Now()})
				got := read(t.Context(), s, c.last, c.path)
				if counted := got.counted(); got.err != nil || len(counted) != c.n {
					t.Errorf("%v, %d objects, want %d: %v", got.err, len(counted), c.n, counted)
				}
				var days []string
				for _, request := range s.Requests() {
					if prefix, ok := strings.CutPrefix(request, "ListObjectsV2 "+c.root); ok && strings.Contains(prefix, "/2026/") {
						days = append(days, prefix)
					}
				}
				slices.Sort(days)
				if slices.Sort(c.listed); !slices.Equal(days, c.listed) {
					t.Errorf("listed are %q, want %q", days, c.listed)
				}
			})
		})
	}
}

// TestPathsOfObjects reads objects, prefixes and patterns. In other layouts than
// CloudTrail's the time of writing selects objects. An object that two paths name is read
// once.
func TestPathsOfObjects(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		last  time.Duration
		paths []string
		want  int
	}{
		{0, []string{"s3://logs"}, 6},
		{0, []string{"s3://logs/a"}, 5},
		{0, []string{"s3://logs/a.json"}, 1},
		{0, []string{"s3://logs/a/"}, 3},
		{0, []string{"s3://logs/a/*.gz"}, 1},
		{0, []string{"s3://logs/*/x"}, 2},
		{0, []string{"s3://logs/a*"}, 5},
		{0, []string{"s3://logs/a/", "s3://logs/a/x", "s3://logs/b"}, 4},
		{time.Hour, []string{"s3://logs"}, 3},
	} {
		t.Run(fmt.Sprint(c.paths, c.last), func(t *testing.T) {
			inBubble(t, func(t *testing.T, s *buckettest.Server) {
				for i, key := range []string{"a.json", "a.json.bak", "a/x", "a/y/z", "a/z.gz", "b/x"} {
					s.Put(buckettest.Object{Key: key, Body: lines(i, 1), Modified: time.Now().Add(time.Duration(i-3)*30*time.Minute + time.Second)})
				}
				s.Put(buckettest.Object{Key: "a/folder/", Modified: time.Now()})
				if c.last > 0 {
					time.Sleep(time.Hour)
				}
				if got := read(t.Context(), s, c.last, c.paths...); got.err != nil || len(got.counted()) != c.want {
					t.Errorf("%v, %v", got.err, got.counted())
				}
			})
		})
	}
}

// endpoint answers listings as it likes.
type endpoint func(w io.Writer, token string)

func (e endpoint) Do(r *http.Request) (*http.Response, error) {
	body, w := io.Pipe()
	go func() {
		e(w, r.URL.Query().Get("continuation-token"))
		_ = w.Close()
	}()
	return &http.Response{StatusCode: http.StatusOK, Header: http.Header{"Content-Type": {"application/xml"}}, Body: body, Request: r}, nil
}

// TestHostileListings reads the listings of an endpoint that is not S3: each ends with an
// error.
func TestHostileListings(t *testing.T) {
	t.Parallel()
	const page = `<ListBucketResult><IsTruncated>true</IsTruncated><NextContinuationToken>%s</NextContinuationToken>%s</ListBucketResult>`
	for _, c := range []struct {
		name   string
		answer endpoint
		want   string
	}{
		{"one token again and again", func(w io.Writer, _ string) { fmt.Fprintf(w, page, "a", "") }, "goes in circles"},
		{"no token, and no end", func(w io.Writer, _ string) { fmt.Fprintf(w, page, "", "") }, "goes in circles"},
		{"a circle of five tokens", func(w io.Writer, token string) {
			n, _ := strconv.Atoi(token)
			fmt.Fprintf(w, page, strconv.Itoa((n+1)%5), "")
		}, "goes in circles"},
		{"a new token with each page, and nothing to read", func(w io.Writer, token string) {
			n, _ := strconv.Atoi(token)
			fmt.Fprintf(w, page, strconv.Itoa(n+1), "<Contents><Key>a</Key><Size>0</Size></Contents>")
		}, "10,000 LIST requests ($0.05) do not list all of s3://logs: give a longer prefix"},
		{"an answer that never ends", func(w io.Writer, _ string) {
			entry := strings.Repeat("<Contents><Key>a</Key><Size>0</Size></Contents>", 1000)
			for {
				if _, err := io.WriteString(w, "<ListBucketResult>"+entry); err != nil {
					return
				}
			}
		}, "has more than 16 MiB"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			settings := (&buckettest.Server{}).Config()
			settings.HTTPClient = c.answer
			settings.APIOptions = append(settings.APIOptions, awserror.LimitResponse)
			var out bytes.Buffer
			r := bucket.New(bucket.NewClient(settings), "eu-west-1", bucket.Options{Out: &out})
			err := (&files.Source{Paths: []string{"s3://logs/"}, Remote: r}).Run(t.Context(), sinktest.New())
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v, want %s", err, c.want)
			}
		})
	}
}

// FuzzListing answers each request for a listing with the same bytes: the listing ends, and
// what it prints is text. Only an endpoint that throttles is asked for as long as anybody waits.
func FuzzListing(f *testing.F) {
	for _, body := range []string{
		"", "<", "<\u008e>", "<Error><Code>SlowDown</Code></Error>", "<ListBucketResult/>", "<ListBucketResult><IsTruncated>true</IsTruncated></ListBucketResult>",
		"<ListBucketResult><Contents><Key>a\x1b[2J</Key><Size>-1</Size></Contents></ListBucketResult>",
		"<ListBucketResult><Contents><Key>a</Key><Size>9223372036854775807</Size><ETag>x</ETag><LastModified>0001-01-01T00:00:00Z</LastModified></Contents></ListBucketResult>",
		"<ListBucketResult><CommonPrefixes><Prefix>AWSLogs/</Prefix></CommonPrefixes><NextContinuationToken>a</NextContinuationToken></ListBucketResult>",
	} {
		f.Add([]byte(body))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
			defer cancel()
			settings := (&buckettest.Server{}).Config()
			settings.HTTPClient = endpoint(func(w io.Writer, _ string) { _, _ = w.Write(body) })
			settings.APIOptions = append(settings.APIOptions, awserror.LimitResponse)
			for _, path := range []string{"s3://logs", "s3://logs/AWSLogs/", "s3://logs/a*"} {
				var out strings.Builder
				r := bucket.New(bucket.NewClient(settings), "eu-west-1", bucket.Options{Last: time.Hour, Out: &out})
				if err := r.Find(ctx, []string{path}); err != nil {
					out.WriteString(err.Error())
				}
				if wrong := hostile.Fault(out.String()); wrong != "" {
					t.Errorf("%s prints %s: %q", path, wrong, out.String())
				}
			}
		})
	})
}
