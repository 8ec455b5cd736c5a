package keypolicy

import (
	"encoding/base64"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
)

const minSecret = 16

// Secrets are the keys of hashes in the order of time. A request is hashed with the
// secret of its own time: collectors that are restarted one after another, and one that
// reads a log again, hash it alike.
type Secrets []secret

type secret struct {
	from int64 // Unix milliseconds
	key  []byte
}

// ParseSecrets reads one secret a line, in base64. Each but the first follows the time
// from which it holds. Empty lines and comments with # are skipped. No error repeats a
// line.
func ParseSecrets(text string) (Secrets, error) {
	var all Secrets
	for i, line := range strings.Split(text, "\n") {
		line = strings.TrimSpace(line)
		if line == "" || line[0] == '#' {
			continue
		}
		s, err := parseSecret(line, len(all) == 0)
		if err == nil && len(all) > 0 && s.from <= all[len(all)-1].from {
			err = errors.New("its time is not after that of the secret before it")
		}
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", i+1, err)
		}
		all = append(all, s)
	}
	if len(all) == 0 {
		return nil, errors.New("no secret: write one line of base64, such as `openssl rand -base64 32` prints")
	}
	return all, nil
}

func parseSecret(line string, first bool) (s secret, err error) {
	fields := strings.Fields(line)
	switch {
	case len(fields) > 2:
		return s, errors.New("write the time from which the secret holds, a space, and its base64")
	case len(fields) == 2:
		from, err := time.Parse(time.RFC3339, fields[0])
		if err != nil {
			return s, errors.New("the time from which the secret holds cannot be read: write one such as 2026-12-01T00:00:00Z")
		}
		s.from = from.UnixMilli()
	case !first:
		return s, errors.New("no time: write the one from which the secret holds before it, such as 2026-12-01T00:00:00Z")
	}
	s.key, err = base64.StdEncoding.DecodeString(fields[len(fields)-1])
	if err != nil || len(s.key) < minSecret {
		return s, fmt.Errorf("the secret is not the base64 of %d bytes or more: take what `openssl rand -base64 32` prints", minSecret)
	}
	return s, nil
}

// index returns the number of the secret that hashes a request of a time in Unix
// milliseconds. The first secret also covers all earlier times.
func (s Secrets) index(time int64) int {
	i, found := slices.BinarySearchFunc(s, time, func(x secret, time int64) int { return int(min(1, max(-1, x.from-time))) })
	if !found {
		i--
	}
	return max(i, 0)
}
