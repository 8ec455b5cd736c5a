// Package rolling recognises keys that are named after the time in which they are
// hot, such as 2026-11-21 or events#2026112109: today's key is hot today, and
// tomorrow another one will be.
//
// [Of] finds a second, minute, hour, day or ISO week in a key's name, or a Unix time.
// [Patterns] keeps the newest hot keys of each pattern and returns a finding about the
// pattern once two of its keys were hot. Periods of months are not recognised.
package rolling
