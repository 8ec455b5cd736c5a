package report

import (
	"github.com/keyheat/keyheat/detect"
)

func (p *Report) changesSince(last *Report) *Changes {
	c := &Changes{
		Since: last.To, New: []Ref{}, Worse: []Ref{}, Over: []Ref{}, Still: []Ref{}, Lost: []Ref{}, Silent: []Ref{},
	}
	before, now := byID(last.Hot), byID(p.Hot)
	for _, i := range p.Hot {
		old, was := before[i.ID]
		switch {
		case !was || old.State == detect.Resolved && i.State != detect.Resolved:
			c.New = append(c.New, refTo(i))
		case detect.Rank(i.Severity) > detect.Rank(old.Severity):
			c.Worse = append(c.Worse, refTo(i))
		}
		if was && old.State == detect.Firing && i.State == detect.Firing {
			c.Still = append(c.Still, refTo(i))
		}
	}
	for _, old := range last.Hot {
		if old.State != detect.Firing || !p.Covers(old.Target) {
			continue
		}
		if i, is := now[old.ID]; !is {
			c.Lost = append(c.Lost, refTo(old))
		} else if i.State == detect.Resolved {
			c.Over = append(c.Over, refTo(i))
		}
	}
	seen := make(map[detect.Target]bool)
	for _, t := range last.NotSeen.Coverage {
		seen[t.Target] = !t.Stale
	}
	for _, t := range p.NotSeen.Coverage {
		if t.Stale && seen[t.Target] {
			c.Silent = append(c.Silent, Ref{KeyRef: detect.KeyRef{Target: t.Target}})
		}
		delete(seen, t.Target)
	}
	for _, t := range last.NotSeen.Coverage {
		if seen[t.Target] && p.Covers(t.Target) {
			c.Silent = append(c.Silent, Ref{KeyRef: detect.KeyRef{Target: t.Target}})
		}
	}
	return c
}

func byID(all []Incident) map[string]Incident {
	m := make(map[string]Incident, len(all))
	for _, i := range all {
		m[i.ID] = i
	}
	return m
}

func refTo(i Incident) Ref { return Ref{Incident: i.ID, KeyRef: i.KeyRef, Severity: i.Severity} }
