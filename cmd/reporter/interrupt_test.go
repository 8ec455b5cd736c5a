package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/keyheat/keyheat/internal/testsupport/await"
	"github.com/keyheat/keyheat/internal/testsupport/buckettest"
	"github.com/keyheat/keyheat/internal/testsupport/must"
	"github.com/keyheat/keyheat/internal/testsupport/streamstest"
	"github.com/keyheat/keyheat/internal/testsupport/streamstest/model"
)

// TestTheSecondInterruptEndsAtOnce: the first Ctrl-C ends a reading with its verdict. While
// that is written to a pipe that nobody reads, which may take for ever, the second one ends
// the process.
func TestTheSecondInterruptEndsAtOnce(t *testing.T) {
	t.Parallel()
	fake := streamstest.New(streamstest.Options{})
	table := fake.CreateTable(model.Schema{Name: "orders", Key: model.Key{Partition: []string{"id"}}})
	table.EnableStream(streamstest.NewAndOldImages)
	for i := range 200 {
		must.Succeed(t, table.Put(model.Item{"id": model.S("hot"), "n": model.N(fmt.Sprint(i)), "note": model.S(strings.Repeat("x", 10_000))}))
	}
	dynamo := httptest.NewServer(fake)
	defer dynamo.Close()
	held, release := make(chan struct{}), make(chan struct{})
	objects := &buckettest.Server{Bucket: "logs", Hold: func(key string) {
		if key == "b" {
			close(held)
			<-release
		}
	}}
	objects.Put(buckettest.Object{Key: "a", Body: []byte(requests(2000))})
	objects.Put(buckettest.Object{Key: "b", Body: []byte(requests(2000))})
	s3 := httptest.NewServer(objects)
	defer s3.Close()
	defer close(release)
	for name, c := range map[string]struct {
		args []string
		url  string
		read func() // waits until something is
	}{
		"a stream": {[]string{"--stream", "orders", "--follow", "--requests", "4"}, dynamo.URL, func() {
			await.Until(t, "some records are read", func() bool { return len(fake.Calls("GetRecords")) >= 3 })
		}},
		"objects": {[]string{"s3://logs"}, s3.URL, func() { <-held }},
	} {
		t.Run(name, func(t *testing.T) {
			self, err := os.Executable()
			must.Succeed(t, err)
			program := filepath.Join(t.TempDir(), "reporter")
			must.Succeed(t, os.Symlink(self, program))
			out, in, err := os.Pipe()
			must.Succeed(t, err)
			defer out.Close()
			const setPipeSize, page = 1031, 4096 // F_SETPIPE_SZ: a verdict must not fit into it
			if _, _, failed := syscall.Syscall(syscall.SYS_FCNTL, in.Fd(), setPipeSize, page); failed != 0 {
				t.Fatal(failed)
			}
			ctx, cancel := context.WithTimeout(t.Context(), await.Limit)
			defer cancel()
			cmd := exec.CommandContext(ctx, program, append([]string{"analyze", "-o", "html"}, c.args...)...)
			var said bytes.Buffer
			cmd.Stdout, cmd.Stderr = in, &said
			cmd.Env = append(os.Environ(), "AWS_ENDPOINT_URL="+c.url, "AWS_REGION=eu-west-1", "AWS_ACCESS_KEY_ID=test",
				"AWS_SECRET_ACCESS_KEY=test", "AWS_EC2_METADATA_DISABLED=true")
			must.Succeed(t, errors.Join(cmd.Start(), in.Close()))
			c.read()
			must.Succeed(t, cmd.Process.Signal(os.Interrupt))
			if _, err := io.ReadFull(out, make([]byte, 1)); err != nil { // of the verdict
				t.Fatalf("no verdict after the first: %v\n%s", errors.Join(err, cmd.Wait()), said.String())
			}
			must.Succeed(t, cmd.Process.Signal(os.Interrupt))
			var exit *exec.ExitError
			if err := cmd.Wait(); !errors.As(err, &exit) || ctx.Err() != nil {
				t.Fatalf("the second did not end it: %v\n%s", err, said.String())
			}
			if status, ok := exit.Sys().(syscall.WaitStatus); !ok || status.Signal() != syscall.SIGINT {
				t.Errorf("it ended with %v", exit)
			}
		})
	}
}
