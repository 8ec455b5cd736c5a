package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/keyheat/keyheat/internal/testsupport/cputime"
)

// A group is contenders that do the same work, and what is asked of their times.
type group struct {
	name, unit string
	// prepare makes what all contenders need, such as a server; they find it by the
	// environment that it returns. Nil for nothing.
	prepare    func() (environment []string, end func(), err error)
	contenders []contender
	figures    []figure
	// wall has figures compare wall-clock times too.
	wall bool
}

// A contender does its work once and says how much it was. Whatever it prepares before it
// calls start, and whatever it does after stop, is not measured.
type contender struct {
	name string
	run  func(m *meter) error
	// cores is how many it may use; 1 when 0.
	cores int
}

// A figure is how many times one contender is as fast as another.
type figure struct {
	name         string
	ours, theirs string
	// goal is the least that is asked for, or with most the most; 0 for nothing.
	goal float64
	most bool
}

// result is what one run of a contender took.
type result struct {
	Work      int
	Wall, CPU time.Duration
	// Peak is the most memory that the process had, in bytes.
	Peak int64
}

func (r result) per(d time.Duration) float64 { return float64(d.Nanoseconds()) / float64(r.Work) }

// meter measures the part of a contender's process that counts.
type meter struct {
	began  time.Time
	before time.Duration
	result result
}

// start begins to measure. What was left over from preparing is collected first.
func (m *meter) start() {
	runtime.GC()
	m.resume()
}

// resume begins to measure in the middle of work.
func (m *meter) resume() { m.began, m.before = time.Now(), cputime.Used() }

// stop ends it: so much work was done.
func (m *meter) stop(work int) {
	m.result.Work = work
	m.result.CPU = cputime.Used() - m.before
	m.result.Wall = time.Since(m.began)
}

// peakMemory is the most memory that this program has had. Getrusage would return that
// of the process which started it, where that is more.
func peakMemory() (int64, error) {
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return 0, err
	}
	for line := range strings.Lines(string(status)) {
		if value, is := strings.CutPrefix(line, "VmHWM:"); is {
			var kib int64
			_, err := fmt.Sscan(value, &kib)
			return kib << 10, err
		}
	}
	return 0, errors.New("/proc/self/status has no VmHWM")
}

// runContender runs one, in this process.
func runContender(all []group, name string) (err error) {
	for _, g := range all {
		for _, c := range g.contenders {
			if g.name+"/"+c.name != name {
				continue
			}
			runtime.GOMAXPROCS(max(c.cores, 1))
			var m meter
			if err := c.run(&m); err != nil {
				return err
			}
			if m.result.Peak, err = peakMemory(); err != nil {
				return err
			}
			return json.NewEncoder(os.Stdout).Encode(m.result)
		}
	}
	return fmt.Errorf("no contender %q", name)
}

// start runs a contender in a process of its own.
func (g *group) start(c contender, environment []string) (r result, err error) {
	program, err := os.Executable()
	if err != nil {
		return r, err
	}
	cmd := exec.Command(program, "-contender", g.name+"/"+c.name)
	cmd.Env = append(os.Environ(), environment...)
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err == nil {
		err = json.Unmarshal(out, &r)
	}
	if err == nil && r.Work == 0 {
		err = errors.New("it did nothing")
	}
	if err != nil {
		return r, fmt.Errorf("%s: %w", c.name, err)
	}
	return r, nil
}

// compare runs all contenders in turn, and prints what each took and the figures.
func (g *group) compare(w io.Writer, rounds int) error {
	var environment []string
	if g.prepare != nil {
		e, end, err := g.prepare()
		if err != nil {
			return err
		}
		defer end()
		environment = e
	}
	results := make(map[string][]result)
	for round := range rounds {
		fmt.Fprintf(os.Stderr, "%s: round %d of %d\n", g.name, round+1, rounds)
		for _, c := range g.contenders {
			r, err := g.start(c, environment)
			if err != nil {
				return err
			}
			results[c.name] = append(results[c.name], r)
		}
	}
	g.print(w, results)
	return nil
}

func (g *group) list(w io.Writer) {
	var all []string
	for _, c := range g.contenders {
		all = append(all, c.name)
	}
	fmt.Fprintf(w, "%s: %s\n", g.name, strings.Join(all, ", "))
}

func (g *group) print(w io.Writer, results map[string][]result) {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintf(t, "\n%s\tCPU ns/%s\tsmallest–largest\tns/%s\tpeak MiB\n", g.name, g.unit, g.unit)
	for _, c := range g.contenders {
		all := results[c.name]
		ns := each(all, func(r result) float64 { return r.per(r.CPU) })
		wall := each(all, func(r result) float64 { return r.per(r.Wall) })
		peak := each(all, func(r result) float64 { return float64(r.Peak) / (1 << 20) })
		fmt.Fprintf(t, "%s\t%.1f\t%.1f–%.1f\t%.1f\t%.0f\n", c.name, ns.median(), ns[0], ns[len(ns)-1], wall.median(), peak.median())
	}
	t.Flush()
	if len(g.figures) == 0 {
		return
	}
	fmt.Fprintf(t, "\nfigure\tgoal\tCPU time\tsmallest–largest")
	if g.wall {
		fmt.Fprintf(t, "\ttime\tsmallest–largest")
	}
	fmt.Fprintln(t)
	for _, f := range g.figures {
		ours, theirs := results[f.ours], results[f.theirs]
		goal := "–"
		if f.goal > 0 {
			goal = fmt.Sprintf("≥ %g", f.goal)
			if f.most {
				goal = fmt.Sprintf("≤ %g", f.goal)
			}
		}
		cpu := ratios(ours, theirs, func(r result) float64 { return r.per(r.CPU) })
		fmt.Fprintf(t, "%s\t%s\t%.2f\t%.2f–%.2f", f.name, goal, cpu.median(), cpu[0], cpu[len(cpu)-1])
		if g.wall {
			wall := ratios(ours, theirs, func(r result) float64 { return r.per(r.Wall) })
			fmt.Fprintf(t, "\t%.2f\t%.2f–%.2f", wall.median(), wall[0], wall[len(wall)-1])
		}
		fmt.Fprintln(t)
	}
	t.Flush()
}

// spread is what was measured in each round, ascending.
type spread []float64

func (s spread) median() float64 {
	if n := len(s); n%2 == 0 {
		return (s[n/2-1] + s[n/2]) / 2
	}
	return s[len(s)/2]
}

func each(all []result, of func(result) float64) spread {
	var s spread
	for _, r := range all {
		s = append(s, of(r))
	}
	slices.Sort(s)
	return s
}

// ratios are, round by round, how many times as long theirs took as ours.
func ratios(ours, theirs []result, of func(result) float64) spread {
	var s spread
	for i := range ours {
		s = append(s, of(theirs[i])/of(ours[i]))
	}
	slices.Sort(s)
	return s
}
