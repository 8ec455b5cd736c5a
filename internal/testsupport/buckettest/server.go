// Package buckettest is as much of S3 as listing and reading objects needs, with the faults
// that it has. Stand-ins that others wrote hold it to be true in e2e.
package buckettest

import (
	"context"
	"crypto/md5" //nolint:gosec // what S3 makes its tags of
	"encoding/xml"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
)

// Object is one in a bucket.
type Object struct {
	Key      string
	Body     []byte
	Modified time.Time
	Class    string // of storage; empty is STANDARD
}

func (o *Object) etag() string { return fmt.Sprintf(`"%x"`, md5.Sum(o.Body)) } //nolint:gosec // as above

// Fault is a response in the place of the right one.
type Fault struct {
	Status        int
	Code, Message string
	Region        string // the bucket's, as a header
	// Cut, when there is no Code, ends the right response after so many bytes.
	Cut int
}

// Server has one bucket.
type Server struct {
	// Bucket is its name.
	Bucket string
	// PageKeys is how many keys a listing has at most; 1,000 when 0.
	PageKeys int
	// Hold, when set, is called with each GetObject's key before it is answered.
	Hold func(key string)

	mu       sync.Mutex
	objects  map[string]Object
	faults   map[string][]Fault // by operation, or by operation and key
	requests []string
	at, most int // GetObjects at once
}

// Put stores an object.
func (s *Server) Put(o Object) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.objects == nil {
		s.objects = map[string]Object{}
	}
	s.objects[o.Key] = o
}

// Fail has the next requests of an operation, or of an operation and key such as
// "GetObject a/b", answered with faults.
func (s *Server) Fail(of string, faults ...Fault) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.faults == nil {
		s.faults = map[string][]Fault{}
	}
	s.faults[of] = append(s.faults[of], faults...)
}

// Requests returns what was asked for: an operation with its prefix, or with its key and
// range.
func (s *Server) Requests() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.requests)
}

// AtOnce returns the most GetObjects that were in work at the same time.
func (s *Server) AtOnce() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.most
}

// Config is the setting of an SDK client that reaches the server through memory.
func (s *Server) Config() aws.Config {
	return aws.Config{
		Region: "eu-west-1", HTTPClient: s, BaseEndpoint: aws.String("http://s3.fake"),
		Credentials: aws.CredentialsProviderFunc(func(context.Context) (aws.Credentials, error) {
			return aws.Credentials{AccessKeyID: "a", SecretAccessKey: "b"}, nil
		}),
	}
}

// Do serves a request in memory: a Server is an aws.HTTPClient.
func (s *Server) Do(r *http.Request) (*http.Response, error) {
	if err := r.Context().Err(); err != nil {
		return nil, err
	}
	w := httptest.NewRecorder()
	s.ServeHTTP(w, r)
	response := w.Result()
	if n, err := strconv.ParseInt(response.Header.Get("Content-Length"), 10, 64); err == nil && n > int64(w.Body.Len()) {
		response.Body = io.NopCloser(io.MultiReader(w.Body, broken{}))
	}
	return response, nil
}

// broken is the end of a connection.
type broken struct{}

func (broken) Read([]byte) (int, error) { return 0, io.ErrUnexpectedEOF }

// ServeHTTP implements http.Handler, for addresses of the form /BUCKET/KEY.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	bucket, key, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
	operation, request := "GetObject", "GetObject "+key
	if key == "" {
		operation, request = "ListObjectsV2", "ListObjectsV2 "+r.URL.Query().Get("prefix")
	} else {
		defer s.enter()()
		if s.Hold != nil {
			s.Hold(key)
		}
	}
	fault := s.begin(operation, request, r.Header.Get("Range"))
	switch {
	case fault.Code != "":
		if fault.Region != "" {
			w.Header().Set("X-Amz-Bucket-Region", fault.Region)
		}
		fail(w, fault.Status, fault.Code, fault.Message)
	case bucket != s.Bucket:
		fail(w, http.StatusNotFound, "NoSuchBucket", "The specified bucket does not exist")
	case key == "":
		s.list(w, r)
	default:
		s.get(w, r, key, fault.Cut)
	}
}

// enter counts a GetObject until the returned function is called.
func (s *Server) enter() (leave func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.at++
	s.most = max(s.most, s.at)
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.at--
	}
}

// begin notes a request and returns its fault.
func (s *Server) begin(operation, request, part string) (f Fault) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.requests = append(s.requests, strings.TrimSpace(request+" "+part))
	for _, of := range []string{request, operation} {
		if next := s.faults[of]; len(next) > 0 {
			s.faults[of] = next[1:]
			return next[0]
		}
	}
	return f
}

func fail(w http.ResponseWriter, status int, code, message string) {
	w.Header().Set("Content-Type", "application/xml")
	w.WriteHeader(status)
	fmt.Fprintf(w, "<Error><Code>%s</Code><Message>", code)
	_ = xml.EscapeText(w, []byte(message)) // to a client that may be gone
	_, _ = io.WriteString(w, "</Message></Error>")
}

func (s *Server) get(w http.ResponseWriter, r *http.Request, key string, cut int) {
	s.mu.Lock()
	o, there := s.objects[key]
	s.mu.Unlock()
	switch tag := r.Header.Get("If-Match"); {
	case !there:
		fail(w, http.StatusNotFound, "NoSuchKey", "The specified key does not exist.")
		return
	case tag != "" && tag != o.etag():
		fail(w, http.StatusPreconditionFailed, "PreconditionFailed", "At least one of the pre-conditions you specified did not hold")
		return
	}
	body, status := o.Body, http.StatusOK
	var from, to int
	if n, _ := fmt.Sscanf(r.Header.Get("Range"), "bytes=%d-%d", &from, &to); n == 2 {
		body, status = body[from:min(to+1, len(body))], http.StatusPartialContent
	}
	w.Header().Set("ETag", o.etag())
	w.Header().Set("Content-Length", strconv.Itoa(len(body)))
	w.WriteHeader(status)
	if cut > 0 {
		body = body[:cut]
	}
	_, _ = w.Write(body) // to a client that may be gone
}

// listing is ListObjectsV2's response.
type listing struct {
	XMLName               xml.Name `xml:"ListBucketResult"`
	IsTruncated           bool
	NextContinuationToken string `xml:",omitempty"`
	Contents              []content
	CommonPrefixes        []prefix
}

type content struct {
	Key, ETag, StorageClass string
	Size                    int
	LastModified            time.Time
}

type prefix struct{ Prefix string }

func (s *Server) list(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	begins, delimiter, after := q.Get("prefix"), q.Get("delimiter"), q.Get("continuation-token")
	s.mu.Lock()
	defer s.mu.Unlock()
	var keys []string
	for key := range s.objects {
		if strings.HasPrefix(key, begins) {
			keys = append(keys, key)
		}
	}
	slices.Sort(keys)
	var page listing
	most, last := s.PageKeys, ""
	if most == 0 {
		most = 1000
	}
	for _, key := range keys {
		name := key
		if delimiter != "" {
			if at := strings.Index(key[len(begins):], delimiter); at >= 0 {
				name = key[:len(begins)+at+1]
			}
		}
		if name <= after || name == last {
			continue
		}
		if len(page.Contents)+len(page.CommonPrefixes) == most {
			page.IsTruncated, page.NextContinuationToken = true, last
			break
		}
		if last = name; name != key {
			page.CommonPrefixes = append(page.CommonPrefixes, prefix{name})
			continue
		}
		o := s.objects[key]
		class := o.Class
		if class == "" {
			class = "STANDARD"
		}
		page.Contents = append(page.Contents, content{key, o.etag(), class, len(o.Body), o.Modified.UTC()})
	}
	w.Header().Set("Content-Type", "application/xml")
	_ = xml.NewEncoder(w).Encode(page) // to a client that may be gone
}
