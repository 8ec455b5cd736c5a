package main

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/keyheat/keyheat/internal/generate"
)

var errPlant = errors.New("write TABLE[/INDEX]:KEY:wcu=N, and optionally ,rcu=N,after=10s,for=30s")

// parseHot reads "orders/by-status:OPEN:wcu=1200,after=10s". The key may hold
// colons: the table ends at the first, the load begins after the last.
func parseHot(text string) (generate.HotKey, error) {
	target, rest, ok := strings.Cut(text, ":")
	last := strings.LastIndexByte(rest, ':')
	if !ok || last < 0 {
		return generate.HotKey{}, errPlant
	}
	h := generate.HotKey{PK: rest[:last]}
	h.Table, h.Index, _ = strings.Cut(target, "/")
	for setting := range strings.SplitSeq(rest[last+1:], ",") {
		name, value, _ := strings.Cut(setting, "=")
		var err error
		switch name {
		case "wcu":
			h.WCU, err = strconv.ParseInt(value, 10, 64)
		case "rcu":
			h.RCU, err = strconv.ParseInt(value, 10, 64)
		case "after":
			h.After, err = time.ParseDuration(value)
		case "for":
			h.For, err = time.ParseDuration(value)
		default:
			return h, errPlant
		}
		if err != nil {
			return h, fmt.Errorf("%s: %w", setting, err)
		}
	}
	return h, nil
}

// parseRolling reads "events:wcu=1100,hourly".
func parseRolling(text string) (generate.HotKey, error) {
	wrong := errors.New("write TABLE:wcu=N, and optionally ,hourly")
	table, load, ok := strings.Cut(text, ":")
	if !ok {
		return generate.HotKey{}, wrong
	}
	k := generate.HotKey{Table: table, Layout: time.DateOnly}
	for setting := range strings.SplitSeq(load, ",") {
		name, value, _ := strings.Cut(setting, "=")
		var err error
		switch name {
		case "wcu":
			k.WCU, err = strconv.ParseInt(value, 10, 64)
		case "hourly":
			k.Layout = "2006-01-02T15"
		default:
			return k, wrong
		}
		if err != nil {
			return k, fmt.Errorf("%s: %w", setting, err)
		}
	}
	return k, nil
}
