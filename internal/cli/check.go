package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/keyheat/keyheat/internal/say/wording"
)

// Probe checks one thing that a daemon needs.
type Probe struct {
	// Name is the probe's subject in one word.
	Name string
	// Run returns a sentence with its finding, or an error with the cause and the remedy.
	Run func(ctx context.Context) (string, error)
}

const probeTimeout = 15 * time.Second

type result struct {
	Name   string `json:"name"`
	OK     bool   `json:"ok"`
	Detail string `json:"detail"`
}

// CheckCommand returns the command that loads the configuration and then probes its
// servers, or, with --daemon, the daemon that runs with it. defaults points to the
// daemon's struct; probes and running read it once it is filled.
func CheckCommand(daemon string, defaults any, probes func() []Probe, running func() Probe) *cobra.Command {
	c := &cobra.Command{
		Use:   "check",
		Short: "Check the configuration and the servers that it names",
		Long: "Reads the configuration as the daemon does, connects to every server that it names,\n" +
			"and prints a sentence about each. Exits with 0, or with 78 if anything is wrong.",
		Example: fmt.Sprintf("  %s check --config %s.yaml\n  %s check -o json\n  %s check --daemon", daemon, daemon, daemon, daemon),
		Args:    cobra.NoArgs,
	}
	load := Layers(c, defaults)
	format := OutputFlag(c)
	ask := c.Flags().Bool("daemon", false, "ask the running daemon whether it is ready, instead of the servers")
	c.RunE = func(c *cobra.Command, _ []string) error {
		probes := probes
		if *ask {
			probes = func() []Probe { return []Probe{running()} }
		}
		results := check(c.Context(), load, probes)
		if err := format.write(c.OutOrStdout(), results); err != nil {
			return err
		}
		for _, r := range results {
			if !r.OK {
				return ErrReported
			}
		}
		return nil
	}
	return c
}

// check stops at a configuration that is wrong: its servers are not the meant
// ones.
func check(ctx context.Context, load func() error, probes func() []Probe) []result {
	if err := load(); err != nil {
		var each interface{ Unwrap() []error }
		if !errors.As(err, &each) {
			return []result{{"config", false, err.Error()}}
		}
		var all []result
		for _, fault := range each.Unwrap() {
			all = append(all, result{"config", false, fault.Error()})
		}
		return all
	}
	all := []result{{"config", true, "every value can be read and makes sense"}}
	for _, p := range probes() {
		all = append(all, p.result(ctx))
	}
	return all
}

func (p Probe) result(ctx context.Context) result {
	ctx, cancel := context.WithTimeout(ctx, probeTimeout)
	defer cancel()
	detail, err := p.Run(ctx)
	if err != nil {
		return result{p.Name, false, err.Error()}
	}
	return result{p.Name, true, detail}
}

// Format is how a command prints: Table or JSON.
type Format string

// The formats.
const (
	Table Format = "table"
	JSON  Format = "json"
)

// OutputFlag adds -o to a command.
func OutputFlag(c *cobra.Command) *Format {
	f := Table
	Choice(c, &f, "output", "o", "print as a `format`: table or json", Table, JSON)
	return &f
}

func (f *Format) write(to io.Writer, results []result) error {
	if *f == JSON {
		all := true
		for _, r := range results {
			all = all && r.OK
		}
		return WriteJSON(to, struct {
			OK     bool     `json:"ok"`
			Checks []result `json:"checks"`
		}{all, results})
	}
	columns := tabwriter.NewWriter(to, 0, 0, 2, ' ', 0)
	for _, r := range results {
		word := "ok"
		if !r.OK {
			word = "WRONG"
		}
		fmt.Fprintf(columns, "%s\t%s\t%s\n", word, wording.Printable(r.Name), wording.Printable(r.Detail)) // servers write into errors
	}
	return columns.Flush()
}

// WriteJSON writes a value as indented JSON.
func WriteJSON(to io.Writer, v any) error {
	text, err := wording.JSON(v)
	if err != nil {
		return err
	}
	_, err = io.WriteString(to, text)
	return err
}
