package streamstest

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"net/http"
	"strconv"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"

	"github.com/keyheat/keyheat/internal/testsupport/streamstest/model"
)

// Config is the setting of an SDK client that reaches the fake through memory,
// as the process with that name.
func (f *Fake) Config(caller string) aws.Config {
	return aws.Config{
		Region: f.options.Region, HTTPClient: f,
		BaseEndpoint: aws.String("http://dynamodb.fake"),
		Credentials: aws.CredentialsProviderFunc(func(context.Context) (aws.Credentials, error) {
			return aws.Credentials{AccessKeyID: caller, SecretAccessKey: "secret"}, nil
		}),
	}
}

// Do serves a request in memory: a Fake is an aws.HTTPClient.
func (f *Fake) Do(r *http.Request) (*http.Response, error) { return f.RoundTrip(r) }

// RoundTrip serves a request in memory: a Fake is an http.RoundTripper.
func (f *Fake) RoundTrip(r *http.Request) (*http.Response, error) {
	if err := r.Context().Err(); err != nil {
		return nil, err
	}
	var body []byte
	if r.Body != nil {
		var err error
		if body, err = io.ReadAll(r.Body); err != nil {
			return nil, err
		}
		_ = r.Body.Close()
	}
	status, answer := f.answer(r.Header, body)
	header := http.Header{}
	describe(header, answer)
	return &http.Response{
		Status: fmt.Sprintf("%d %s", status, http.StatusText(status)), StatusCode: status,
		Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, Header: header, Request: r,
		Body: io.NopCloser(bytes.NewReader(answer)), ContentLength: int64(len(answer)),
	}, nil
}

// ServeHTTP serves a request that came over a socket.
func (f *Fake) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return // the client went away
	}
	status, answer := f.answer(r.Header, body)
	describe(w.Header(), answer)
	w.WriteHeader(status)
	_, _ = w.Write(answer)
}

// describe sets a response's header: DynamoDB's clients check the sum.
func describe(h http.Header, answer []byte) {
	h.Set("Content-Type", "application/x-amz-json-1.0")
	h.Set("X-Amz-Crc32", strconv.FormatUint(uint64(crc32.ChecksumIEEE(answer)), 10))
	h.Set("X-Amzn-Requestid", "FAKE")
}

// answer returns the status and the body for a request.
func (f *Fake) answer(h http.Header, body []byte) (int, []byte) {
	service, operation, _ := strings.Cut(h.Get("X-Amz-Target"), ".")
	call := Call{Operation: operation, Caller: caller(h.Get("Authorization"))}
	f.mu.Lock()
	before := f.faults.before
	f.mu.Unlock()
	if before != nil {
		before(call)
	}
	out, err := f.serve(service, &call, body)
	if err == nil {
		return http.StatusOK, model.Encode(out)
	}
	var refusal *Refusal
	if !errors.As(err, &refusal) {
		refusal = refuse(codeInvalid, "%v", err)
	}
	status := http.StatusBadRequest
	if refusal.Code == codeInternal {
		status = http.StatusInternalServerError
	}
	fields := map[string]any{"__type": "com.amazonaws.dynamodb.v20120810#" + refusal.Code, "message": refusal.Message}
	for name, v := range refusal.more {
		fields[name] = v
	}
	return status, model.Encode(fields)
}

// caller is the access key in a signature: "AWS4-HMAC-SHA256 Credential=KEY/…".
func caller(authorization string) string {
	_, rest, _ := strings.Cut(authorization, "Credential=")
	key, _, _ := strings.Cut(rest, "/")
	return key
}

// serve carries out a call and records it.
func (f *Fake) serve(service string, call *Call, body []byte) (any, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.settle()
	call.Time = f.now()
	out, err := f.dispatch(service, call, body)
	if err != nil {
		call.Code = codeInvalid
		var refusal *Refusal
		if errors.As(err, &refusal) {
			call.Code = refusal.Code
		}
	}
	f.log.calls = append(f.log.calls, *call)
	return out, err
}

func (f *Fake) dispatch(service string, call *Call, body []byte) (any, error) {
	if err := f.fault(call); err != nil {
		return nil, err
	}
	switch service + "." + call.Operation {
	case "DynamoDBStreams_20120810.ListStreams":
		return with(body, call, f.listStreams)
	case "DynamoDBStreams_20120810.DescribeStream":
		return with(body, call, f.describeStream)
	case "DynamoDBStreams_20120810.GetShardIterator":
		return with(body, call, f.getShardIterator)
	case "DynamoDBStreams_20120810.GetRecords":
		return with(body, call, f.getRecords)
	case "DynamoDB_20120810.ListTables":
		return with(body, call, f.listTables)
	case "DynamoDB_20120810.DescribeTable":
		return with(body, call, f.describeTable)
	case "DynamoDB_20120810.CreateTable":
		return with(body, call, f.serveCreate)
	case "DynamoDB_20120810.UpdateTable":
		return with(body, call, f.serveUpdateTable)
	case "DynamoDB_20120810.DeleteTable":
		return with(body, call, f.serveDrop)
	case "DynamoDB_20120810.PutItem":
		return with(body, call, f.servePut)
	case "DynamoDB_20120810.UpdateItem":
		return with(body, call, f.serveUpdate)
	case "DynamoDB_20120810.Scan":
		return with(body, call, f.serveScan)
	case "DynamoDB_20120810.DeleteItem":
		return with(body, call, f.serveDelete)
	}
	return nil, refuse(codeUnknown, "the fake does not know %s.%s", service, call.Operation)
}

// with decodes a request's body for what serves it.
func with[In any](body []byte, call *Call, serve func(In, *Call) (any, error)) (any, error) {
	var in In
	if err := json.Unmarshal(body, &in); err != nil {
		return nil, refuse(codeInvalid, "%v", err)
	}
	return serve(in, call)
}
