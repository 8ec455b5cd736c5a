package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/detect/recipe"
	"github.com/keyheat/keyheat/detect/whatif"
	"github.com/keyheat/keyheat/docs"
	"github.com/keyheat/keyheat/internal/analyze"
	"github.com/keyheat/keyheat/internal/analyze/tablestream"
	"github.com/keyheat/keyheat/internal/cli"
	"github.com/keyheat/keyheat/internal/say/wording"
	"github.com/keyheat/keyheat/internal/settings/config"
	"github.com/keyheat/keyheat/internal/settings/tables"
	"github.com/keyheat/keyheat/internal/source/files/bucket"
	"github.com/keyheat/keyheat/sample"
	"github.com/keyheat/keyheat/sample/mapped"
)

func analyzeCommand() *cobra.Command {
	c := &cobra.Command{
		Use:   "analyze FILE... | --stream TABLE | --contributor-insights TABLE",
		Short: "Find hot keys in files, in a table's stream or in Contributor Insights, without a server",
		Long: "Reads samples and prints the hot keys in them. It stores nothing. FILE is a file, plain or\n" +
			"compressed; a folder; a quoted pattern; s3://BUCKET/PREFIX; or - for standard input.\n" +
			"docs/START.md leads through each source and lists the exit codes. --print-form describes\n" +
			"the formats of samples, and how --map reads your own.",
		Example: "  reporter analyze --explain user#42 --code python samples.ndjson.zst\n" +
			"  reporter analyze --map ts=time,pk=customer_id --time-unit s --table orders access.csv\n" +
			"  reporter analyze --stream orders --last 3h",
		Args: func(c *cobra.Command, args []string) error {
			if form, _ := c.Flags().GetBool("print-form"); form {
				return cobra.NoArgs(c, args)
			}
			if slices.ContainsFunc([]string{"stream", "contributor-insights", "index"}, c.Flags().Changed) {
				return nil // files beside it are refused with a sentence of its own
			}
			return cobra.MinimumNArgs(1)(c, args)
		},
	}
	c.RunE = newAnalyzeFlags(c).run
	return c
}

type analyzeFlags struct {
	format                            analyze.Format
	failOn                            detect.Severity
	tablesFile, secretFile            *string
	top                               *int
	warning, headroom                 *float64
	candidates, explain, code, whatIf *[]string
	verbose, printForm                *bool
	memory                            config.Bytes
	mapping                           *mappingFlags
	stream                            *streamFlags
	insights                          *insightsFlags
}

func newAnalyzeFlags(c *cobra.Command) *analyzeFlags {
	defaults := detect.DefaultPolicy()
	f := &analyzeFlags{
		format:     analyze.FormatTable,
		top:        c.Flags().Int("top", 0, "how many findings the table lists, the worst first; 40 when 0"),
		warning:    c.Flags().Float64("warning", defaults.Warning, "share of a partition's limit above which a key is a warning"),
		headroom:   c.Flags().Float64("headroom", defaults.Headroom, "how many times the peak load the recommended shards serve"),
		tablesFile: c.Flags().String("tables", "", "a YAML `file` with the sections tables and policy of docs/CONFIGURATION.md"),
		secretFile: c.Flags().String("keys-secret-file", "", "the `file` with the secret of hashed keys, if a policy hashes keys"),
		candidates: c.Flags().StringArray("candidate", nil, "evaluate another partition `key`: pk, sk, attributes, @date, @hour, @month and, last, hash(PART)%N, joined with #; repeatable"),
		explain:    c.Flags().StringArray("explain", nil, "explain a `key`: harm, cause, what to do now, whether it heals, and the lasting fix; repeatable"),
		verbose:    c.Flags().Bool("verbose", false, "with --explain: all findings, the evidence, the bounds and each step in full"),
		code:       c.Flags().StringArray("code", nil, "with --explain: print the code for the key's shards in a `language`: "+languages()+"; repeatable"),
		whatIf:     c.Flags().StringArray("what-if", nil, "evaluate a key with N shards and F times the load, as `KEY=N[,xF]`; repeatable"),
		printForm:  c.Flags().Bool("print-form", false, "print the page about the format of samples and about --map"),
		memory:     config.Bytes(analyze.DefaultMemory),
		mapping:    newMappingFlags(c.Flags()), stream: newStreamFlags(c), insights: newInsightsFlags(c),
	}
	c.Flags().TextVar(&f.memory, "memory", f.memory, "memory for the seconds that wait for the end of the input, as a `size`; the process takes some 300MiB more")
	_ = c.MarkFlagFilename("tables", "yaml", "yml")
	_ = c.MarkFlagFilename("map-file", "yaml", "yml")
	cli.Choice(c, &f.format, "output", "o", "print as a `format`: "+strings.Join(wording.Names(analyze.Formats()), ", "), analyze.Formats()...)
	cli.Choice(c, &f.failOn, "fail-on", "", "exit with 2 when a finding is of this `severity` or worse: info, warning, critical", detect.Info, detect.Warning, detect.Critical)
	return f
}

func (f *analyzeFlags) run(c *cobra.Command, files []string) error {
	if *f.printForm {
		_, err := io.WriteString(c.OutOrStdout(), docs.Form)
		return err
	}
	mapping, err := f.mapping.mapping()
	if err != nil {
		return err
	}
	section, err := f.section(c)
	if err != nil {
		return cli.Wrong(err)
	}
	hide, err := hiding(section, *f.secretFile)
	if err != nil {
		return err
	}
	options := analyze.Options{
		Paths: files, In: c.InOrStdin(), Out: c.OutOrStdout(), Err: c.ErrOrStderr(),
		Format: f.format, Top: *f.top, Tables: section.Tables.Decoding(), Mapping: mapping,
		Explain: *f.explain, Verbose: *f.verbose,
		Policy: section.DetectPolicy, Facts: section.Tables.Facts, Names: section.Tables.Names(), Hide: hide, FailOn: f.failOn, Memory: int64(f.memory),
	}
	if err := f.check(c); err != nil {
		return cli.Wrong(err)
	}
	if options.WhatIf, err = parseAll(*f.whatIf, parseQuestion); err != nil {
		return cli.Wrong(err)
	}
	if options.Code, err = parseAll(*f.code, parseLanguage); err != nil {
		return cli.Wrong(err)
	}
	if options.Candidates, err = parseAll(*f.candidates, analyze.ParseCandidate); err != nil {
		return cli.Wrong(err)
	}
	if c.Flags().Changed("contributor-insights") || c.Flags().Changed("index") {
		return exitCode(f.insights.run(c, files, options))
	}
	if err := f.stream.open(c, &options, section.Tables); err != nil {
		return err
	}
	return exitCode(analyze.Run(c.Context(), options))
}

// section reads the file of tables. The flags hold for tables without a policy of their own.
func (f *analyzeFlags) section(c *cobra.Command) (*tables.Section, error) {
	section, err := tables.Read(*f.tablesFile)
	if err != nil {
		return section, err
	}
	if c.Flags().Changed("warning") {
		section.Policy.Warning = *f.warning
	}
	if c.Flags().Changed("headroom") {
		section.Policy.Headroom = *f.headroom
	}
	return section, section.DetectPolicy(detect.Target{}).Validate()
}

func (f *analyzeFlags) check(c *cobra.Command) error {
	switch {
	case *f.top < 0:
		return fmt.Errorf("--top %d: give how many findings to show", *f.top)
	case f.memory < 1<<20:
		return errors.New("--memory: give 1MiB or more, such as 4GiB")
	}
	for _, name := range []string{"code", "verbose"} {
		if c.Flags().Changed(name) && len(*f.explain) == 0 {
			return fmt.Errorf("--%s: give the key with --explain", name)
		}
	}
	return nil
}

func parseAll[T any](texts []string, parse func(string) (T, error)) (all []T, err error) {
	for _, text := range texts {
		v, err := parse(text)
		if err != nil {
			return nil, err
		}
		all = append(all, v)
	}
	return all, nil
}

func exitCode(err error) error {
	switch {
	case errors.Is(err, analyze.ErrFound):
		return cli.Finding(err)
	case errors.Is(err, analyze.ErrUnknownKey):
		return cli.Wrong(err)
	}
	return err
}

func parseQuestion(text string) (q whatif.Question, err error) {
	if q, err = whatif.Parse(text); err != nil {
		err = fmt.Errorf("--what-if: %w", err)
	}
	return q, err
}

func parseLanguage(text string) (recipe.Language, error) {
	if !slices.Contains(recipe.Languages(), recipe.Language(text)) {
		return "", fmt.Errorf("--code %q: give one of %s", text, languages())
	}
	return recipe.Language(text), nil
}

func languages() string { return strings.Join(wording.Names(recipe.Languages()), ", ") }

// mappingFlags say where the fields of samples are that are not Keyheat JSON's.
type mappingFlags struct {
	fields                    *[]string
	file, unit, layout, table *string
}

func newMappingFlags(f *pflag.FlagSet) *mappingFlags {
	return &mappingFlags{
		fields: f.StringArray("map", nil, "which of your fields or columns is which of a sample's: `FIELD=YOURS,…`, as ts=time,pk=detail.key,table=const:orders; repeatable"),
		file:   f.String("map-file", "", "the same in a YAML `file`, with the keys fields, time_unit, time_layout and table; the flags win"),
		unit:   f.String("time-unit", "", "the `unit` of times that are numbers: "+strings.Join(wording.Names(mapped.Units()), ", ")+" (default ms)"),
		layout: f.String("time-layout", "", "how times are written that are texts, in the `letters` of strftime, such as '%d.%m.%Y %H:%M:%S'"),
		table:  f.String("table", "", "the `name` of the table of samples that name none"),
	}
}

type mappingFile struct {
	Fields     map[string]string `yaml:"fields" help:"your fields, by the field of a sample" layers:"file"`
	TimeUnit   string            `yaml:"time_unit" help:"the unit of times that are numbers" layers:"file"`
	TimeLayout string            `yaml:"time_layout" help:"how times are written, in the letters of strftime" layers:"file"`
	Table      string            `yaml:"table" help:"the table of samples that name none" layers:"file"`
}

func (f *mappingFlags) mapping() (m mapped.Mapping, err error) {
	var file mappingFile
	if *f.file != "" {
		if err := config.Load(&file, config.Options{Files: []string{*f.file}}); err != nil {
			return m, cli.Wrong(err)
		}
	}
	m = mapped.Mapping{Fields: maps.Clone(file.Fields), Unit: mapped.Unit(file.TimeUnit), Layout: file.TimeLayout, Table: file.Table}
	if err := m.Validate(); err != nil {
		return m, cli.Wrong(fmt.Errorf("%s: %w", *f.file, err))
	}
	for _, text := range *f.fields {
		if err := m.ParseFields(text); err != nil {
			return m, cli.Wrong(fmt.Errorf("--map: %w", err))
		}
	}
	switch { // one given here takes the place of the other in the file
	case *f.unit != "":
		m.Unit, m.Layout = mapped.Unit(*f.unit), *f.layout
	case *f.layout != "":
		m.Unit, m.Layout = "", *f.layout
	}
	if *f.table != "" {
		m.Table = *f.table
	}
	if err := m.Validate(); err != nil {
		return m, cli.Wrong(err)
	}
	return m, nil
}

type streamFlags struct {
	table  *string
	last   *time.Duration
	follow *bool
	rate   *float64
}

func newStreamFlags(c *cobra.Command) *streamFlags {
	f := &streamFlags{
		table:  c.Flags().String("stream", "", "read the DynamoDB stream of this `table` instead of files"),
		last:   c.Flags().Duration("last", 0, "how much `time` up to now to read (default 24h of a stream, 3h of Contributor Insights, all objects of s3://, by their age)"),
		follow: c.Flags().Bool("follow", false, "with --stream: go on until Ctrl-C, and print each key that gets hot"),
		rate:   c.Flags().Float64("requests", 1, "with --stream: GetRecords requests a `second` for each shard, up to 4"),
	}
	return f
}

// open lets analyze read the stream, or objects of S3, if such are named.
func (f *streamFlags) open(c *cobra.Command, o *analyze.Options, known tables.Tables) error {
	if *f.table == "" {
		return f.openFiles(c, o)
	}
	for _, of := range []string{"map", "map-file", "time-unit", "time-layout", "table"} {
		if c.Flags().Changed(of) {
			return cli.Wrong(fmt.Errorf("--%s is for files: a stream has one format", of))
		}
	}
	switch {
	case len(o.Paths) > 0:
		return cli.Wrong(fmt.Errorf("--stream %s is read instead of files: remove %s", *f.table, o.Paths[0]))
	case !sample.IsName(*f.table):
		return cli.Wrong(fmt.Errorf("--stream %.300q: a table's name has %s", *f.table, sample.NameRule))
	case c.Flags().Changed("last") && (*f.last < time.Second || *f.last > tablestream.Longest):
		return cli.Wrong(errors.New("--last: a stream keeps 24 hours: give 1s to 24h"))
	case *f.rate < 0.01 || *f.rate > tablestream.MostRequests:
		return cli.Wrong(fmt.Errorf("--requests %g: give 0.01 to %d", *f.rate, tablestream.MostRequests))
	}
	settings, err := awsUntilInterrupted(c.Context())
	if err != nil {
		return err
	}
	return tablestream.Open(c.Context(), settings, tablestream.Options{
		Table: *f.table, Last: cmp.Or(*f.last, tablestream.Longest), Follow: *f.follow, Rate: *f.rate, Tables: known, Out: c.ErrOrStderr(),
	}, o)
}

func (f *streamFlags) openFiles(c *cobra.Command, o *analyze.Options) error {
	remote := 0
	for _, path := range o.Paths {
		if !strings.HasPrefix(path, bucket.Scheme) {
			continue
		}
		if remote++; bucket.CheckPath(path) != nil {
			return cli.Wrong(bucket.CheckPath(path))
		}
	}
	for _, of := range []string{"stream", "follow", "requests"} {
		if c.Flags().Changed(of) {
			return cli.Wrong(fmt.Errorf("--%s: name a table with --stream", of))
		}
	}
	options := bucket.Options{Out: c.ErrOrStderr()}
	if c.Flags().Changed("last") {
		switch options.Last = *f.last; {
		case remote == 0 || remote < len(o.Paths):
			return cli.Wrong(errors.New("--last is for --stream TABLE and s3://BUCKET/PREFIX: files are read whole"))
		case options.Last < time.Second:
			return cli.Wrong(fmt.Errorf("--last %s: give 1s or more, such as 72h", options.Last))
		}
	}
	if remote == 0 {
		return nil
	}
	settings, err := awsUntilInterrupted(c.Context())
	if err != nil {
		return err
	}
	o.Remote = bucket.New(bucket.NewClient(settings), settings.Region, options)
	return nil
}

// awsUntilInterrupted returns the SDK's settings for a reading that an interrupt ends with
// a verdict: the second one ends the process. It waits for both from now on, so that one that
// comes before anybody has noticed the first is not lost.
func awsUntilInterrupted(ctx context.Context) (aws.Config, error) {
	received := make(chan os.Signal, 2)
	signal.Notify(received, os.Interrupt, syscall.SIGTERM)
	go func() {
		<-received
		again := <-received
		signal.Reset(os.Interrupt, syscall.SIGTERM)
		if self, err := os.FindProcess(os.Getpid()); err == nil {
			_ = self.Signal(again) // it ends with this
		}
	}()
	return cli.AWSWithCredentials(ctx)
}
