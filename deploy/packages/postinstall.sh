#!/bin/sh
# Makes the users of the services, and lets each read its own configuration. The services are
# not started: they need a database first.
set -e
if command -v systemd-sysusers >/dev/null; then
	systemd-sysusers keyheat.conf
else
	getent group keyheat >/dev/null || groupadd --system keyheat
	for user in keyheat-collector keyheat-reporter; do
		id "$user" >/dev/null 2>&1 || useradd --system --user-group --groups keyheat --home-dir /var/lib/keyheat --shell /usr/sbin/nologin "$user"
	done
fi
# An SQLite database is the group's: both services use it.
install -d -o root -g keyheat -m 2770 /var/lib/keyheat
# Earlier, both services ran as the user keyheat.
if id keyheat >/dev/null 2>&1; then
	find /var/lib/keyheat -xdev -user keyheat -type d -exec chmod g+rwxs {} +
	find /var/lib/keyheat -xdev -user keyheat -type f -exec chmod g+rw {} +
	find /var/lib/keyheat -xdev -user keyheat -exec chown -h keyheat-reporter:keyheat {} +
fi
chgrp keyheat-collector /etc/keyheat/collector.yaml /etc/keyheat/collector
chgrp keyheat-reporter /etc/keyheat/reporter.yaml /etc/keyheat/reporter
if [ -d /run/systemd/system ]; then
	systemctl daemon-reload
	systemctl try-restart keyheat-collector.service keyheat-reporter.service
fi
