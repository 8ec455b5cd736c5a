// Command bench prints, as ratios, how fast Keyheat's hot path is beside what one would
// take instead: libraries that can be had, and the plain ways of doing the same.
//
// Each contender runs in a process of its own with GOMAXPROCS=1, all of a group in turn,
// round after round, so that what else the machine does meets all of them alike. A ratio
// is that of one round; the table has the median of all rounds and their smallest and
// largest. Times are CPU times of the process, or wall-clock times where it says so.
//
//	go run .                     everything, which needs a Kafka: scripts/kafka starts it
//	go run . -group sketch       one group: sketch, decode, kafka, cores or follow
//	go run . -rounds 9
package main

import (
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
)

// groups are the contenders that are compared with each other.
func groups() []group { return []group{sketches(), decoders(), pipelines(), cores(), follows()} }

func main() {
	rounds := flag.Int("rounds", 5, "how often each contender runs")
	only := flag.String("group", "", "run one group alone")
	match := flag.String("match", "", "run only the contenders whose name has this in it, without figures")
	list := flag.Bool("list", false, "print the names of the groups and their contenders")
	contender := flag.String("contender", "", "for this program itself: run one contender, and print its result as JSON")
	flag.Parse()
	if err := run(*rounds, *only, *match, *contender, *list); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func run(rounds int, only, match, one string, list bool) error {
	all := groups()
	if one != "" {
		return runContender(all, one)
	}
	if only != "" {
		if !slices.ContainsFunc(all, func(g group) bool { return g.name == only }) {
			return fmt.Errorf("no group %q: give one of %s", only, names(all))
		}
		all = slices.DeleteFunc(all, func(g group) bool { return g.name != only })
	}
	for _, g := range all {
		if match != "" {
			g.contenders = slices.DeleteFunc(g.contenders, func(c contender) bool { return !strings.Contains(c.name, match) })
			g.figures = nil
		}
		if list {
			g.list(os.Stdout)
			continue
		}
		if err := g.compare(os.Stdout, max(rounds, 1)); err != nil {
			return fmt.Errorf("%s: %w", g.name, err)
		}
	}
	return nil
}

func names(all []group) string {
	var s []string
	for _, g := range all {
		s = append(s, g.name)
	}
	return strings.Join(s, ", ")
}
