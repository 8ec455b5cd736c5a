package cli

import (
	"context"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"sync"

	"github.com/prometheus/client_golang/prometheus"
	"golang.org/x/sync/errgroup"
)

// Part is a component of a daemon that is replaced when its settings change, while the
// others run on.
type Part struct {
	// Name is unique among a daemon's parts.
	Name string
	// Settings are compared with the settings of the running part.
	Settings any
	// Open makes the component; it must not act before Run.
	Open func(ctx context.Context) (Component, error)
}

// Component is the running side of a Part. It has no influence on the daemon's readiness:
// a failing receiver must not take the pages away.
type Component interface {
	prometheus.Collector
	// Run works until ctx ends.
	Run(ctx context.Context) error
}

// Parts are the parts that run.
type Parts struct {
	daemon Daemon
	group  *errgroup.Group
	ctx    context.Context // of all of them

	mu      sync.Mutex
	running map[string]*running
}

type running struct {
	settings any
	Component
	stop    context.CancelFunc
	stopped chan struct{}
}

// NewParts returns an empty set. Parts added later run in the group, until ctx ends.
func NewParts(ctx context.Context, group *errgroup.Group, d Daemon) *Parts {
	return &Parts{daemon: d, group: group, ctx: ctx, running: make(map[string]*running)}
}

// Replace has these parts run and no others. One whose settings are as they were runs
// on. When one of them cannot be opened nothing changes. One Replace at a time.
func (p *Parts) Replace(ctx context.Context, parts []Part) error {
	next := make(map[string]*running, len(parts))
	for _, part := range parts {
		if now := p.running[part.Name]; now != nil && reflect.DeepEqual(now.settings, part.Settings) {
			next[part.Name] = now
			continue
		}
		opened, err := part.Open(ctx)
		if err != nil {
			return fmt.Errorf("%s: %w", part.Name, err)
		}
		next[part.Name] = &running{settings: part.Settings, Component: opened, stopped: make(chan struct{})}
	}
	for name, r := range p.running {
		if next[name] != r {
			p.end(r)
		}
	}
	p.mu.Lock()
	before := p.running
	p.running = next
	p.mu.Unlock()
	for _, name := range slices.Sorted(maps.Keys(next)) {
		if r := next[name]; before[name] != r {
			p.begin(r)
		}
	}
	return nil
}

func (p *Parts) begin(r *running) {
	p.daemon.Ops.Registry().MustRegister(r.Component)
	ctx, stop := context.WithCancel(p.ctx)
	r.stop = stop
	p.group.Go(func() error {
		defer close(r.stopped)
		return r.Run(ctx)
	})
}

// end stops a part and waits for it: two with one name would send the same twice.
func (p *Parts) end(r *running) {
	r.stop()
	<-r.stopped
	p.daemon.Ops.Registry().Unregister(r.Component)
}

// Each calls do with each component that runs.
func (p *Parts) Each(do func(Component)) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, r := range p.running {
		do(r.Component)
	}
}
