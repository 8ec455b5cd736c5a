package cli

import (
	"context"

	systemd "github.com/coreos/go-systemd/v22/daemon"

	"github.com/keyheat/keyheat/internal/daemon"
)

// notifySystemd tells systemd that the daemon serves, when it stops because its context
// ends, and until alive ends that it is alive, twice in each period of the unit's watchdog.
// Without systemd it does nothing. A database that is away is no reason for a restart, so
// only a process that has stopped to run goroutines misses the watchdog.
func notifySystemd(ctx, alive context.Context) {
	if told, err := systemd.SdNotify(false, systemd.SdNotifyReady); !told || err != nil {
		return
	}
	stopping := func() { _, _ = systemd.SdNotify(false, systemd.SdNotifyStopping) }
	stop := context.AfterFunc(ctx, stopping)
	defer func() {
		// The work can end before the runtime has started what should follow the context.
		if stop() && ctx.Err() != nil {
			stopping()
		}
	}()
	if period, err := systemd.SdWatchdogEnabled(false); err == nil && period > 0 {
		daemon.Every(alive, period/2, func(context.Context) { _, _ = systemd.SdNotify(false, systemd.SdNotifyWatchdog) })
	}
	<-alive.Done()
}
