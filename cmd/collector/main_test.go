package main

import (
	"context"
	"net/http/httptest"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/keyheat/keyheat/internal/testsupport/clitest"
	"github.com/keyheat/keyheat/internal/testsupport/pgtest"
	"github.com/keyheat/keyheat/internal/testsupport/reference"
	"github.com/keyheat/keyheat/internal/testsupport/streamstest"
	"github.com/keyheat/keyheat/internal/testsupport/streamstest/model"
	"github.com/keyheat/keyheat/store"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"collector": main, "keyheat-collector": main, "migrate": migrate})
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
		Cmds: map[string]func(*testscript.TestScript, bool, []string){"exits": clitest.Exits},
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

func TestTwoRunInOneProcess(t *testing.T) {
	t.Parallel()
	clitest.CheckTwice(t, command)
}

func TestEveryCommandHasHelpAndAnExample(t *testing.T) {
	t.Parallel()
	clitest.CheckHelp(t, command())
}

// The reference in the documentation is what the program prints. On a mismatch
// write what is printed between the marks.
func TestReferenceIsTrue(t *testing.T) {
	t.Parallel()
	reference.Check(t, "../../docs/CONFIGURATION.md", "collector", defaults(), "store", "web", "log", "policy", "tables")
}
