package cli

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/keyheat/keyheat/internal/say/wording"
)

// Choice adds a flag whose value is one of some words, or as it is before, and lets a shell
// complete it.
func Choice[T ~string](c *cobra.Command, to *T, name, shorthand, usage string, words ...T) {
	c.Flags().VarP(&choice[T]{to, append(slices.Clone(words), *to)}, name, shorthand, usage)
	CompleteValues(c, name, wording.Names(words)...)
}

// CompleteValues lets a shell complete the values of a flag.
func CompleteValues(c *cobra.Command, flag string, values ...string) {
	_ = c.RegisterFlagCompletionFunc(flag, cobra.FixedCompletions(values, cobra.ShellCompDirectiveNoFileComp))
}

// choice implements pflag.Value.
type choice[T ~string] struct {
	to    *T
	words []T // the default is the last
}

func (c *choice[T]) String() string { return string(*c.to) }
func (c *choice[T]) Type() string   { return "string" }
func (c *choice[T]) Set(text string) error {
	if !slices.Contains(c.words, T(text)) {
		return fmt.Errorf("give one of %s", strings.Join(wording.Names(c.words[:len(c.words)-1]), ", "))
	}
	*c.to = T(text)
	return nil
}
