//go:build e2e

package e2e_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/keyheat/keyheat/internal/testsupport/must"
	"github.com/keyheat/keyheat/internal/testsupport/streamstest"
	"github.com/keyheat/keyheat/internal/testsupport/streamstest/model"
)

// verdict is what analyze prints as JSON.
type verdict struct {
	Findings []struct{ Subject, Index, Key, Severity string }
	Tables   []struct {
		Index string
		WCU   float64
	}
	Gaps  []struct{ Reason string }
	Notes []string
}

// analyzeStream starts the program on the stream of orders; the returned function waits
// for what it prints.
func analyzeStream(t *testing.T, endpoint string, args ...string) (cmd *exec.Cmd, wait func() verdict) {
	t.Helper()
	dir, err := build()
	must.Succeed(t, err)
	var out, errs bytes.Buffer
	cmd = exec.CommandContext(t.Context(), filepath.Join(dir, "reporter"), append([]string{"analyze", "--stream", "orders", "-o", "json"}, args...)...) //nolint:gosec // our own program
	cmd.Stdout, cmd.Stderr = &out, &errs
	cmd.Env = append(os.Environ(), "AWS_ENDPOINT_URL="+endpoint, "AWS_REGION=eu-west-1", "AWS_ACCESS_KEY_ID=test",
		"AWS_SECRET_ACCESS_KEY=test", "AWS_EC2_METADATA_DISABLED=true")
	must.Succeed(t, cmd.Start())
	return cmd, func() (v verdict) {
		t.Helper()
		if err := cmd.Wait(); err != nil {
			t.Fatalf("%v\n%s", err, errs.String())
		}
		must.Succeed(t, json.Unmarshal(out.Bytes(), &v))
		return v
	}
}

// TestAnalyzeAStreamOfMinistack writes through the SDK to a DynamoDB that others wrote, and
// holds the verdict on its stream to the same writes, done to a table of the fake.
func TestAnalyzeAStreamOfMinistack(t *testing.T) {
	t.Parallel() // it mostly waits
	endpoint := startMinistack(t)
	client := dynamodb.NewFromConfig(awsConfig(endpoint))
	makeStreamed(t, client)
	shadow := streamstest.New(streamstest.Options{}).CreateTable(streamed)
	put := func(i model.Item) {
		t.Helper()
		if _, err := client.PutItem(t.Context(), &dynamodb.PutItemInput{TableName: aws.String("orders"), Item: asAttributes(i)}); err != nil {
			t.Fatal(err)
		}
		must.Succeed(t, shadow.Put(i))
	}
	random := rand.New(rand.NewPCG(seed, 8))
	for i := range 300 {
		item := orderItem(fmt.Sprint("user#", random.IntN(40)), fmt.Sprint(random.IntN(3)), []string{"", "paid", "sent"}[i%3], random.IntN(3000))
		if i%2 == 0 {
			item["day"], item["shop"] = model.S("monday"), model.S(fmt.Sprint("shop", i%5))
		}
		put(item)
	}
	for i := range 60 { // of 300 units: four within a second are enough, also on a busy machine
		put(orderItem("user#hot", fmt.Sprint(i), "open", 300_000))
	}
	written := time.Now()
	within(t, time.Minute, "the second of the last write is over", func() error {
		if time.Now().Unix() == written.Unix() {
			return fmt.Errorf("it is %s", written)
		}
		return nil
	})
	_, wait := analyzeStream(t, endpoint, "--requests", "4")
	v := wait()
	want := newOracle(shadow, nil).accounts
	for _, of := range v.Tables {
		if of.WCU != float64(want[of.Index].units) {
			t.Errorf("index %q: %g write units, want %d", of.Index, of.WCU, want[of.Index].units)
		}
		delete(want, of.Index)
	}
	if len(want) > 0 || len(v.Gaps) > 0 {
		t.Errorf("not seen: %v; gaps: %v", want, v.Gaps)
	}
	hot := map[string]bool{}
	for _, f := range v.Findings {
		if f.Severity == "critical" {
			hot[f.Subject+" "+f.Index+" "+f.Key] = true
		}
	}
	if !hot["key_writes  user#hot"] || !hot["key_writes by-status open"] {
		t.Errorf("critical are %v", hot)
	}
}

// TestAnalyzeAStreamInterrupted: Ctrl-C ends the reading, with the verdict on what was
// read.
func TestAnalyzeAStreamInterrupted(t *testing.T) {
	t.Parallel() // it mostly waits
	fake := streamstest.New(streamstest.Options{Shards: 20, PageRecords: 2})
	fake.Advance(-time.Hour)
	table := fake.CreateTable(streamed)
	table.EnableStream(streamstest.NewAndOldImages)
	for i := range 2000 {
		must.Succeed(t, table.Put(orderItem(fmt.Sprint("user#", i), "0", "paid", 10)))
	}
	fake.Advance(time.Hour)
	cmd, wait := analyzeStream(t, serve(t, fake))
	within(t, time.Minute, "each shard was asked twice", func() error {
		if n := len(fake.Calls("GetRecords")); n < 40 {
			return fmt.Errorf("%d requests", n)
		}
		return nil
	})
	must.Succeed(t, cmd.Process.Signal(syscall.SIGINT))
	v := wait()
	if len(v.Gaps) != 1 || v.Gaps[0].Reason != "interrupted: 0 of 20 shards were read to their end" || len(v.Tables) == 0 {
		t.Errorf("%+v", v)
	}
	if notes := strings.Join(v.Notes, " "); !strings.Contains(notes, "reads from the beginning again") {
		t.Errorf("notes %q", notes)
	}
}
