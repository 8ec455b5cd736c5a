package cli

import (
	"context"
	"time"

	systemd "github.com/coreos/go-systemd/v22/daemon"

	"github.com/keyheat/keyheat/internal/daemon"
)

// storePatience is how long systemd waits for the first attempt to open the store. It is far
// below the 90 seconds after which systemd kills a unit that starts.
const storePatience = 10 * time.Second

// notifySystemd tells systemd that the daemon serves, when it stops because its context
// ends, and until alive ends that it is alive, twice in each period of the unit's watchdog.
// Without systemd it does nothing. It waits until the store is open or away, so that a start
// fails if the store cannot be opened, such as a file of another user. A database that is away is no reason for a restart, so
// only a process that has stopped to run goroutines misses the watchdog.
func notifySystemd(ctx, alive context.Context, tried <-chan struct{}) {
	select {
	case <-tried:
	case <-time.After(storePatience):
	case <-alive.Done():
		return
	}
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
