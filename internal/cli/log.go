package cli

import (
	"io"
	"log/slog"

	"github.com/keyheat/keyheat/internal/settings/config"
)

// Log chooses the level and format of logs, which go to standard error.
type Log struct {
	Level  slog.Level `yaml:"level" help:"the lowest level to log: debug, info, warn or error"`
	Format string     `yaml:"format" help:"json or text"`
}

// DefaultLog returns the defaults, which suit log collectors.
func DefaultLog() Log { return Log{Level: slog.LevelInfo, Format: "json"} }

// Check adds the faults.
func (l Log) Check(f *config.Faults) {
	if l.Format != "json" && l.Format != "text" {
		f.Addf("log.format", "%q is no format: write json or text", l.Format)
	}
}

// Logger returns a logger with l's level and format.
func (l Log) Logger(to io.Writer) *slog.Logger {
	options := &slog.HandlerOptions{Level: l.Level}
	if l.Format == "text" {
		return slog.New(slog.NewTextHandler(to, options))
	}
	return slog.New(slog.NewJSONHandler(to, options))
}
