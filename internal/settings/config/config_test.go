package config_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/spf13/pflag"

	"github.com/keyheat/keyheat/internal/settings/config"
	"github.com/keyheat/keyheat/internal/testsupport/must"
	"github.com/keyheat/keyheat/internal/testsupport/reference"
)

type kafka struct {
	Brokers      []string      `yaml:"brokers" help:"host:port of some brokers"`
	Group        string        `yaml:"group" help:"the consumer group"`
	TLS          bool          `yaml:"tls" help:"encrypt"`
	Password     config.Secret `yaml:"password" help:"the password"`
	PasswordFile string        `yaml:"password_file" help:"a file with it"`
	URL          config.Secret `yaml:"url" help:"with a password, or without" flag:"true"`
}

type policy struct {
	Warning float64 `yaml:"warning" help:"share of a limit"`
}

type settings struct {
	Kafka    kafka             `yaml:"kafka"`
	Interval time.Duration     `yaml:"commit_interval" help:"how often"`
	Shards   int               `yaml:"shards" help:"how many"`
	Memory   config.Bytes      `yaml:"memory" help:"how much"`
	Level    slog.Level        `yaml:"level" help:"how loud"`
	Policies map[string]policy `yaml:"policies" help:"by table"`
}

// Check implements config.Checker.
func (s *settings) Check(f *config.Faults) {
	if s.Interval < time.Second {
		f.Addf("commit_interval", "%s is too short: give at least 1s", s.Interval)
	}
	if s.Kafka.Group == "" {
		f.Addf("kafka.group", "no consumer group: name one")
	}
}

func defaults() *settings {
	return &settings{Interval: 2 * time.Second, Memory: 256 << 20, Kafka: kafka{Group: "keyheat"}}
}

// load runs all layers over the defaults; an empty yaml is no file.
func load(t *testing.T, yaml string, environ, args []string) (*settings, error) {
	t.Helper()
	s, o := defaults(), config.Options{Environ: environ, Reserved: []string{"KEYHEAT_CONFIG", "KEYHEAT_TEST_"}}
	if yaml != "" {
		o.Files = []string{write(t, "c.yaml", yaml)}
	}
	o.Flags = pflag.NewFlagSet("test", pflag.ContinueOnError)
	config.AddFlags(o.Flags, s)
	must.Succeed(t, o.Flags.Parse(args))
	err := config.Load(s, o)
	return s, err
}

func write(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	must.Succeed(t, os.WriteFile(path, []byte(text), 0o600))
	return path
}

func TestLayersLieOverEachOther(t *testing.T) {
	t.Parallel()
	file := `
kafka:
  brokers: [file:1, "file:2"]
  group: from-file
  tls: true
commit_interval: 3s
memory: 1GiB
level: debug
policies:
  orders: {warning: 0.9}
  odd.name: {}
`
	s, err := load(t, file,
		[]string{"KEYHEAT_KAFKA_BROKERS=env:1, env:2", "KEYHEAT_COMMIT_INTERVAL=4s", "KEYHEAT_SHARDS=", "PATH=/bin", "KEYHEAT_CONFIG=x", "KEYHEAT_TEST_POSTGRES=y"},
		[]string{"--commit-interval=5s", "--shards", "3"})
	must.Succeed(t, err)
	want := &settings{
		Kafka:    kafka{Brokers: []string{"env:1", "env:2"}, Group: "from-file", TLS: true},
		Interval: 5 * time.Second, Shards: 3, Memory: 1 << 30, Level: slog.LevelDebug,
		Policies: map[string]policy{"orders": {Warning: 0.9}, "odd.name": {}},
	}
	if !reflect.DeepEqual(s, want) {
		t.Errorf("got  %+v\nwant %+v", s, want)
	}
}

func TestWithoutLayersTheDefaultsStand(t *testing.T) {
	t.Parallel()
	for _, file := range []string{"", "# nothing yet\n", "kafka:\n#  group: x\n"} {
		if s, err := load(t, file, nil, nil); err != nil || !reflect.DeepEqual(s, defaults()) {
			t.Errorf("%q: %+v, %v", file, s, err)
		}
	}
}

// Each row is one mistake and all that is said about it.
func TestMistakesSayWhereTheyAreAndWhatToDo(t *testing.T) {
	t.Parallel()
	rows := []struct {
		name, file    string
		environ, args []string
		want          string
	}{
		{name: "unknown key", file: "kafka:\n  grup: a\n", want: `c.yaml:2: unknown key "kafka.grup": did you mean "group"?`},
		{name: "swapped letters", file: "comimt_interval: 2s\n", want: `c.yaml:1: unknown key "comimt_interval": did you mean "commit_interval"?`},
		{name: "nothing near", file: "kafka: {zookeeper_chroot: /a}\n", want: `c.yaml:1: unknown key "kafka.zookeeper_chroot"; known are brokers, group, tls, password, password_file, url`},
		{name: "merge key", file: "kafka: {<<: {group: a}}\n", want: `c.yaml:1: unknown key "kafka.<<"; known are brokers, group, tls, password, password_file, url`},
		{name: "unknown key in a map", file: "policies:\n  orders:\n    warnin: 1\n", want: `c.yaml:3: unknown key "policies.orders.warnin": did you mean "warning"?`},
		{name: "twice", file: "shards: 1\nshards: 2\n", want: `c.yaml:2: "shards" is already set in line 1: keep one`},
		{name: "bool", file: "kafka:\n  tls: often\n", want: `c.yaml:2: kafka.tls "often": write true or false`},
		{name: "integer", file: "shards: 1.5\n", want: `c.yaml:1: shards "1.5": write a whole number`},
		{name: "float in a map", file: "policies: {orders: {warning: high}}\n", want: `c.yaml:1: policies.orders.warning "high": write a number`},
		{name: "bare duration", file: "commit_interval: 2\n", want: `c.yaml:1: commit_interval "2": write a duration with its unit, such as 500ms, 2s, 10m, 24h or 7d`},
		{name: "size", file: "memory: 5 MB\n", want: `c.yaml:1: memory "5 MB": write an amount of memory, such as 64KiB, 256MiB or 1GiB`},
		{name: "a type that reads itself", file: "level: loud\n", want: `c.yaml:1: level "loud": slog: level string "loud": unknown name`},
		{name: "no value", file: "kafka:\n  group:\n", want: `c.yaml:2: kafka.group has no value: give one, or take the line out`},
		{name: "section as value", file: "kafka: localhost\n", want: `c.yaml:1: kafka: write keys and values here, such as "key: value"`},
		{name: "value as section", file: "shards: {a: 1}\n", want: `c.yaml:1: shards: write one value here`},
		{name: "list of sections", file: "kafka: {brokers: [{host: a}]}\n", want: `c.yaml:1: kafka.brokers: write a list of plain values`},
		{name: "no mapping at all", file: "- a\n", want: `c.yaml:1: the file: write keys and values here, such as "key: value"`},
		{name: "unknown variable", environ: []string{"KEYHEAT_KAFKA_BROKER=a"}, want: `KEYHEAT_KAFKA_BROKER: no setting has this variable: did you mean "KEYHEAT_KAFKA_BROKERS"?`},
		{name: "bad variable", environ: []string{"KEYHEAT_SHARDS=many"}, want: `KEYHEAT_SHARDS: shards "many": write a whole number`},
		{name: "bad flag", args: []string{"--shards=many"}, want: `--shards: shards "many": write a whole number`},
		{name: "fault of a value from the file", file: "commit_interval: 1ms\n", want: `c.yaml:1: commit_interval: 1ms is too short: give at least 1s`},
		{name: "fault of a value from a flag", args: []string{"--commit-interval=1ms"}, want: `--commit-interval: commit_interval: 1ms is too short: give at least 1s`},
		{name: "secret and file in one layer", file: "kafka: {password: a, password_file: b}\n", want: `c.yaml:1: both kafka.password and kafka.password_file are set: give one`},
	}
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			_, err := load(t, row.file, row.environ, row.args)
			if err == nil {
				t.Fatal("no error")
			}
			if got := withoutFolder(err); got != row.want {
				t.Errorf("got  %s\nwant %s", got, row.want)
			}
		})
	}
}

// withoutFolder returns an error's text with the file's name alone.
func withoutFolder(err error) string {
	lines := strings.Split(err.Error(), "\n")
	for i, line := range lines {
		if at := strings.Index(line, "c.yaml"); at >= 0 {
			lines[i] = line[at:]
		}
	}
	return strings.Join(lines, "\n")
}

func TestAllErrorsComeAtOnce(t *testing.T) {
	t.Parallel()
	_, err := load(t, "shard: 1\ncommit_interval: soon\nkafka: {group: ''}\n", []string{"KEYHEAT_MEMROY=1"}, []string{"--level=x"})
	want := strings.Join([]string{
		`c.yaml:1: unknown key "shard": did you mean "shards"?`,
		`c.yaml:2: commit_interval "soon": write a duration with its unit, such as 500ms, 2s, 10m, 24h or 7d`,
		`KEYHEAT_MEMROY: no setting has this variable: did you mean "KEYHEAT_MEMORY"?`,
		`--level: level "x": slog: level string "x": unknown name`,
		`c.yaml:3: kafka.group: no consumer group: name one`,
	}, "\n")
	if err == nil || withoutFolder(err) != want {
		t.Errorf("got\n%v\nwant\n%s", err, want)
	}
	var faults *config.Faults
	if !errors.As(err, &faults) || len(faults.Unwrap()) != 5 {
		t.Errorf("want five faults, got %#v", err)
	}
}

func TestFilesThatAreNoConfiguration(t *testing.T) {
	t.Parallel()
	for file, want := range map[string]string{
		"a: [\n":               "yaml: line 1",
		"shards: 1\n---\na: 1": "more than one document",
		"\x00\x01":             "yaml: control characters",
	} {
		if _, err := load(t, file, nil, nil); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", file, err, want)
		}
	}
	if err := config.Load(defaults(), config.Options{Files: []string{filepath.Join(t.TempDir(), "none.yaml")}}); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a file that is not there: %v", err)
	}
}

func TestSecretsComeFromFilesAndStayHidden(t *testing.T) {
	t.Parallel()
	file := write(t, "password", "hunter2\n")
	s, err := load(t, "kafka: {password: from-file}\n", []string{"KEYHEAT_KAFKA_PASSWORD_FILE=" + file}, nil)
	if err != nil || string(s.Kafka.Password) != "hunter2" {
		t.Fatalf("the variable wins over the file: %q, %v", string(s.Kafka.Password), err)
	}
	s, err = load(t, "kafka: {password_file: /nowhere}\n", []string{"KEYHEAT_KAFKA_PASSWORD=direct"}, nil)
	if err != nil || string(s.Kafka.Password) != "direct" || s.Kafka.PasswordFile != "" {
		t.Fatalf("a secret clears a file of a lower layer: %+v, %v", s.Kafka, err)
	}
	var logged strings.Builder
	slog.New(slog.NewTextHandler(&logged, nil)).Info("x", "secret", s.Kafka.Password)
	asJSON, err := json.Marshal(s)
	must.Succeed(t, err)
	for _, shown := range []string{fmt.Sprintf("%v %+v %#v %s", s.Kafka, s.Kafka, s.Kafka, s.Kafka.Password), logged.String(), string(asJSON)} {
		if strings.Contains(shown, "direct") || !strings.Contains(shown, "(secret)") {
			t.Errorf("a secret shows: %s", shown)
		}
	}
}

func TestSecretFilesThatCannotBe(t *testing.T) {
	t.Parallel()
	for name, path := range map[string]string{
		"is empty":     write(t, "password", "\n"),
		"is larger":    write(t, "password", strings.Repeat("x", 70_000)),
		"no such file": filepath.Join(t.TempDir(), "none"),
	} {
		_, err := load(t, "", nil, []string{"--kafka-password-file", path})
		if err == nil || !strings.HasPrefix(err.Error(), "--kafka-password-file: kafka.password_file: ") || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestFlags(t *testing.T) {
	t.Parallel()
	set := pflag.NewFlagSet("test", pflag.ContinueOnError)
	config.AddFlags(set, defaults())
	if set.Lookup("kafka-password") != nil {
		t.Error("a secret has a flag: every user of the machine could read it")
	}
	usage := set.FlagUsages()
	for _, want := range []string{
		"--commit-interval duration", "how often (default 2s)", "--kafka-brokers list", "--memory size", "(default 256MiB)",
		"--kafka-tls", "--level text", "(default INFO)", "--shards count",
	} {
		if !strings.Contains(usage, want) {
			t.Errorf("no %q in\n%s", want, usage)
		}
	}
	s, err := load(t, "", nil, []string{"--kafka-tls", "--kafka-brokers", "a:1,b:2", "--kafka-url=x:y"})
	if err != nil || !s.Kafka.TLS || string(s.Kafka.URL) != "x:y" || len(s.Kafka.Brokers) != 2 {
		t.Errorf("%+v, %v", s, err)
	}
}

func TestBytesKeepTheirText(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]config.Bytes{"0": 0, "1000": 1000, "64KiB": 64 << 10, "3 MiB": 3 << 20, "2GiB": 2 << 30} {
		var b config.Bytes
		if err := b.UnmarshalText([]byte(text)); err != nil || b != want {
			t.Errorf("%s: %d, %v", text, b, err)
		}
		again, err := b.MarshalText()
		if err != nil || string(again) != strings.ReplaceAll(text, " ", "") {
			t.Errorf("%s is written as %s, %v", text, again, err)
		}
	}
	for _, text := range []string{"", "-1", "1e3", "8589934592GiB", "GiB", "1.5MiB", "1mb"} {
		if err := new(config.Bytes).UnmarshalText([]byte(text)); err == nil {
			t.Errorf("%q was read", text)
		}
	}
}

func TestReferenceListsEveryKey(t *testing.T) {
	t.Parallel()
	out := reference.Table(defaults())
	for _, row := range []string{
		"| `kafka.brokers` |  | host:port of some brokers |",
		"| `commit_interval` | `2s` | how often |",
		"| `memory` | `256MiB` | how much |",
		"| `policies.NAME.warning` | `0` | share of a limit |",
	} {
		if !strings.Contains(out+"\n", row+"\n") {
			t.Errorf("no row %s in\n%s", row, out)
		}
	}
}

// Whatever a file holds, it is read or refused with a sentence.
func FuzzLoad(f *testing.F) {
	for _, seed := range []string{"shards: 1", "kafka: {brokers: [a]}", "a: &a {b: *a}", "kafka: &k {group: *k}", "policies: {x: {warning: .inf}}"} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		path := filepath.Join(t.TempDir(), "c.yaml")
		must.Succeed(t, os.WriteFile(path, text, 0o600))
		if err := config.Load(defaults(), config.Options{Files: []string{path}}); err != nil && strings.TrimSpace(err.Error()) == "" {
			t.Error("an error without a word")
		}
	})
}

// Of several files the later stands before, key by key, also in maps.
func TestLaterFilesStandBefore(t *testing.T) {
	t.Parallel()
	s := defaults()
	err := config.Load(s, config.Options{Files: []string{
		write(t, "a.yaml", "kafka: {group: a, password: one, brokers: [a:1]}\npolicies: {x: {warning: 0.1}, y: {warning: 0.2}}\n"),
		write(t, "b.yaml", "kafka: {group: b, password_file: "+write(t, "secret", "two")+"}\npolicies: {y: {warning: 0.3}, z: {}}\n"),
	}})
	must.Succeed(t, err)
	want := map[string]policy{"x": {Warning: 0.1}, "y": {Warning: 0.3}, "z": {}}
	if s.Kafka.Group != "b" || s.Kafka.Password != "two" || len(s.Kafka.Brokers) != 1 || !reflect.DeepEqual(s.Policies, want) {
		t.Errorf("got %+v", s)
	}
	err = config.Load(defaults(), config.Options{Files: []string{
		write(t, "a.yaml", "kafka: {grup: a}\n"), write(t, "b.yaml", "shards: many\n"),
	}})
	for _, says := range []string{`a.yaml:1: unknown key "kafka.grup"`, `b.yaml:1: shards "many"`} {
		if err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%v does not say %s", err, says)
		}
	}
}

// room is a section of files alone.
type room struct {
	Width int `yaml:"width" help:"how wide"`
}

type house struct {
	Name   string          `yaml:"name" help:"what it is called"`
	Cellar room            `yaml:"cellar" help:"the room below" layers:"file"`
	Rooms  map[string]room `yaml:"rooms" help:"by name"`
}

// A section of files alone has neither flags nor variables, and one row.
func TestSectionsOfFilesAlone(t *testing.T) {
	t.Parallel()
	var h house
	if err := config.Load(&h, config.Options{Files: []string{write(t, "c.yaml", "cellar: {width: 3}")}}); err != nil || h.Cellar.Width != 3 {
		t.Errorf("got %+v, %v", h, err)
	}
	flags := pflag.NewFlagSet("test", pflag.ContinueOnError)
	config.AddFlags(flags, &h)
	if flags.Lookup("cellar-width") != nil || flags.Lookup("name") == nil {
		t.Error("the flags are not those of the other fields")
	}
	if err := config.Load(&h, config.Options{Environ: []string{"KEYHEAT_CELLAR_WIDTH=4"}}); err == nil {
		t.Error("it has a variable")
	}
	if b := reference.Table(&h); strings.Contains(b, "cellar.width") || !strings.Contains(b, "| `cellar` | | the room below |") {
		t.Error(b)
	}
}
