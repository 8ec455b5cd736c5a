//go:build e2e

package e2e_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"

	"github.com/keyheat/keyheat/internal/testsupport/kafkatest"
	"github.com/keyheat/keyheat/internal/testsupport/must"
)

// TestAnalyzeATrailInS3 writes a trail in CloudTrail's layout to S3s that others wrote, and
// to a folder: the verdicts are the same.
func TestAnalyzeATrailInS3(t *testing.T) {
	t.Parallel() // it mostly waits
	for _, name := range []string{"moto", "ministack"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			endpoint := startStandIn(t, name)
			settings := awsConfig(endpoint)
			settings.Region = "us-east-1" // where a bucket needs no constraint
			client := s3.NewFromConfig(settings, func(o *s3.Options) { o.UsePathStyle = true })
			if _, err := client.CreateBucket(t.Context(), &s3.CreateBucketInput{Bucket: aws.String("trails")}); err != nil {
				t.Fatal(err)
			}
			folder := t.TempDir()
			now := time.Now().UTC()
			put := func(day time.Time, file string, body []byte) {
				t.Helper()
				key := "main/AWSLogs/123456789012/CloudTrail/us-east-1/" + day.Format("2006/01/02/") + file
				if _, err := client.PutObject(t.Context(), &s3.PutObjectInput{Bucket: aws.String("trails"), Key: &key, Body: bytes.NewReader(body)}); err != nil {
					t.Fatal(err)
				}
				if day.Before(now) {
					return
				}
				must.Succeed(t, os.WriteFile(filepath.Join(folder, file), body, 0o600))
			}
			for i := range 120 { // some seconds each, in gzip as CloudTrail writes them
				put(now, fmt.Sprintf("%03d.json.gz", i), kafkatest.Compress(kafkatest.Gzip, trailOf(now.Add(-time.Hour), i, 30)))
			}
			put(now, "200.json", trailOf(now.Add(-time.Hour), 200, 30_000)) // of several parts
			put(now, "300.json.zst", kafkatest.Compress(kafkatest.Zstd, trailOf(now.Add(-time.Hour), 300, 30)))
			put(now.AddDate(0, 0, -5), "old.json", []byte("not asked for"))
			tables := filepath.Join(t.TempDir(), "tables.yaml")
			must.Succeed(t, os.WriteFile(tables, []byte("tables: {orders: {partition_key: id}}"), 0o600))
			want, _ := analyzedFiles(t, endpoint, "--tables", tables, folder)
			got, said := analyzedFiles(t, endpoint, "--tables", tables, "--last", "1h", "s3://trails/main")
			if len(got.Findings) == 0 || !reflect.DeepEqual(got.Findings, want.Findings) || !reflect.DeepEqual(got.Tables, want.Tables) || len(got.Gaps) > 0 {
				t.Errorf("of S3: %+v\nof the folder: %+v", got, want)
			}
			if notes := strings.Join(got.Notes, " "); !strings.Contains(notes, "122 of 122 objects") {
				t.Errorf("notes %q", notes)
			}
			if !strings.Contains(said, "Reading s3://trails/main: 122 objects") {
				t.Errorf("before: %s", said)
			}
			got, _ = analyzedFiles(t, endpoint, "--tables", tables, "s3://trails/main/AWSLogs/123456789012/CloudTrail/us-east-1/"+now.Format("2006/01/02")+"/*.gz")
			if notes := strings.Join(got.Notes, " "); !strings.Contains(notes, "120 of 120 objects") {
				t.Errorf("of a pattern: notes %q", notes)
			}
			for path, want := range map[string]string{
				"s3://trail/main": "there is no bucket trail", "s3://trails/mine": "there are no objects under this prefix",
			} {
				if out, err := reporterAnalyze(t, endpoint, path).CombinedOutput(); err == nil || !strings.Contains(string(out), want) {
					t.Errorf("%s: %v, %s", path, err, out)
				}
			}
		})
	}
}

// trailOf is a file of CloudTrail with n events of a second, most of them of one key.
func trailOf(from time.Time, second, n int) []byte {
	var b bytes.Buffer
	b.WriteString(`{"Records":[`)
	for i := range n {
		if i > 0 {
			b.WriteByte(',')
		}
		id := "hot"
		if i%10 == 9 {
			id = fmt.Sprint("c", i)
		}
		fmt.Fprintf(&b, `{"eventTime":%q,"eventSource":"dynamodb.amazonaws.com","eventName":"UpdateItem","awsRegion":"us-east-1",`+
			`"recipientAccountId":"123456789012","requestParameters":{"tableName":"orders","key":{"id":"%s"}}}`,
			from.Add(time.Duration(second)*time.Second).UTC().Format(time.RFC3339), id)
	}
	b.WriteString("]}")
	return b.Bytes()
}

func reporterAnalyze(t *testing.T, endpoint string, args ...string) *exec.Cmd {
	t.Helper()
	dir, err := build()
	must.Succeed(t, err)
	cmd := exec.CommandContext(t.Context(), filepath.Join(dir, "reporter"), append([]string{"analyze", "-o", "json"}, args...)...) //nolint:gosec // our own program
	cmd.Env = append(os.Environ(), "AWS_ENDPOINT_URL="+endpoint, "AWS_REGION=us-east-1", "AWS_ACCESS_KEY_ID=test",
		"AWS_SECRET_ACCESS_KEY=test", "AWS_EC2_METADATA_DISABLED=true")
	return cmd
}

// analyzedFiles runs the program, and returns its verdict and what it said meanwhile.
func analyzedFiles(t *testing.T, endpoint string, args ...string) (v verdict, said string) {
	t.Helper()
	var out, errs bytes.Buffer
	cmd := reporterAnalyze(t, endpoint, args...)
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Run(); err != nil {
		t.Fatalf("%v\n%s", err, errs.String())
	}
	must.Succeed(t, json.Unmarshal(out.Bytes(), &v))
	return v, strings.Join(strings.Fields(errs.String()), " ")
}
