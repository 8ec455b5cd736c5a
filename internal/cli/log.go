package cli

import (
	"io"
	"log/slog"

	"github.com/keyheat/keyheat/internal/settings/config"
)

// Log says what is logged, and in what form. Logs go to standard error.
type Log struct {
	Level  slog.Level `yaml:"level" help:"the least level that is logged: debug, info, warn or error"`
	Format string     `yaml:"format" help:"json for machines, text for people"`
}

// DefaultLog returns what a collector of logs expects.
func DefaultLog() Log { return Log{Level: slog.LevelInfo, Format: "json"} }

// Check adds what is wrong.
func (l Log) Check(f *config.Faults) {
	if l.Format != "json" && l.Format != "text" {
		f.Addf("log.format", "%q is no format: write json or text", l.Format)
	}
}

// Logger writes as l says.
func (l Log) Logger(to io.Writer) *slog.Logger {
	options := &slog.HandlerOptions{Level: l.Level}
	if l.Format == "text" {
		return slog.New(slog.NewTextHandler(to, options))
	}
	return slog.New(slog.NewJSONHandler(to, options))
}
