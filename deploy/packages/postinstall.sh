#!/bin/sh
# Makes the user of the services, and lets it read its configuration. The services are not
# started: they need a database first.
set -e
if command -v systemd-sysusers >/dev/null; then
	systemd-sysusers keyheat.conf
elif ! id keyheat >/dev/null 2>&1; then
	useradd --system --home-dir /var/lib/keyheat --shell /usr/sbin/nologin keyheat
fi
# reporter migrate makes an SQLite database here, before systemd would make the folder.
install -d -o keyheat -g keyheat -m 0750 /var/lib/keyheat
chgrp keyheat /etc/keyheat/collector.yaml /etc/keyheat/reporter.yaml
if [ -d /run/systemd/system ]; then
	systemctl daemon-reload
	systemctl try-restart keyheat-collector.service keyheat-reporter.service
fi
