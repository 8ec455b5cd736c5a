package main

import (
	"bytes"
	"context"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
	"github.com/spf13/cobra"

	"github.com/keyheat/keyheat/internal/cli"
	"github.com/keyheat/keyheat/internal/testsupport/pgtest"
	"github.com/keyheat/keyheat/internal/testsupport/reference"
	"github.com/keyheat/keyheat/internal/testsupport/streamstest"
	"github.com/keyheat/keyheat/internal/testsupport/streamstest/model"
	"github.com/keyheat/keyheat/store"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"collector": main, "migrate": migrate})
}

// migrate makes keyheat.db, as reporter migrate does.
func migrate() {
	if _, err := store.Migrate(context.Background(), "sqlite:keyheat.db"); err != nil {
		panic(err)
	}
}

// The scripts tell what each command prints, and its exit code.
func TestScripts(t *testing.T) {
	t.Parallel()
	testscript.Run(t, testscript.Params{
		Dir: "testdata", RequireUniqueNames: true,
		Cmds: map[string]func(*testscript.TestScript, bool, []string){"exits": exits},
		Setup: func(e *testscript.Env) error {
			e.Setenv("POSTGRES", pgtest.Database(t))
			e.Setenv("STREAMS", dynamoDB(t).URL)
			e.Setenv("DENIED", dynamoDB(t, "DescribeTable", "GetShardIterator").URL)
			e.Setenv("AWS_EC2_METADATA_DISABLED", "true")
			return nil
		},
	})
}

// dynamoDB serves tables with streams of all views on loopback, and denies some
// operations.
func dynamoDB(t *testing.T, denied ...string) *httptest.Server {
	t.Helper()
	fake := streamstest.New(streamstest.Options{})
	index := []model.Index{{Name: "by-status", Key: model.Key{Partition: []string{"status"}}}}
	for _, s := range []struct {
		schema model.Schema
		view   string
	}{
		{model.Schema{Name: "orders", Key: model.Key{Partition: []string{"customer"}, Sort: []string{"id"}}, Indexes: index}, streamstest.NewAndOldImages},
		{model.Schema{Name: "users", Key: model.Key{Partition: []string{"pk"}}, Indexes: index}, streamstest.NewImage},
		{model.Schema{Name: "logs", Key: model.Key{Partition: []string{"pk"}}}, streamstest.KeysOnly},
		{model.Schema{Name: "bare", Key: model.Key{Partition: []string{"pk"}}}, ""},
	} {
		if table := fake.CreateTable(s.schema); s.view != "" {
			table.EnableStream(s.view)
		}
	}
	for _, operation := range denied {
		fake.Deny(operation)
	}
	server := httptest.NewServer(fake)
	t.Cleanup(server.Close)
	return server
}

// exits runs a program and compares its exit code: exits 78 collector check.
func exits(ts *testscript.TestScript, _ bool, args []string) {
	err := ts.Exec(args[1], args[2:]...)
	got := "0"
	if err != nil {
		got = strings.TrimPrefix(err.Error(), "exit status ")
	}
	if got != args[0] {
		ts.Fatalf("exit code %s, want %s", got, args[0])
	}
}

// The whole command line runs in this process, and twice at once.
func TestTwoRunInOneProcess(t *testing.T) {
	t.Parallel()
	done := make(chan string, 2)
	for range 2 {
		go func() {
			var out, errs bytes.Buffer
			code := cli.Run(context.Background(), command(), []string{"version"}, cli.Streams{Out: &out, Err: &errs})
			if code != cli.OK || errs.Len() > 0 {
				t.Errorf("exit code %d, %s", code, errs.String())
			}
			done <- out.String()
		}()
	}
	if a, b := <-done, <-done; a != b || !strings.HasPrefix(a, "collector ") {
		t.Errorf("got %q and %q", a, b)
	}
}

// Every command has a description and an example, and help that fits a screen: the settings
// are in docs/CONFIGURATION.md.
func TestEveryCommandHasHelpAndAnExample(t *testing.T) {
	t.Parallel()
	for _, c := range command().Commands() {
		if c.Short == "" || !strings.Contains(c.Example, "collector "+c.Name()) {
			t.Errorf("%s has no help or no example", c.Name())
		}
		for _, c := range slices.Concat(c.Commands(), []*cobra.Command{c}) {
			var help bytes.Buffer
			c.SetOut(&help)
			_ = c.Help()
			if lines := strings.Count(help.String(), "\n"); lines > 30 && c.Name() != "analyze" {
				t.Errorf("the help of %s has %d lines", c.CommandPath(), lines)
			}
		}
	}
}

// The reference in the documentation is what the program prints. On a mismatch
// write what is printed between the marks.
func TestReferenceIsTrue(t *testing.T) {
	t.Parallel()
	reference.Check(t, "../../docs/CONFIGURATION.md", "collector", defaults(), "store", "web", "log", "policy", "tables")
}
