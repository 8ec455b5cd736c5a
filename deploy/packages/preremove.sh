#!/bin/sh
# Stops the services when the package is removed, and not when it is updated: deb calls this
# with "remove", rpm with the number of versions that stay.
set -e
case "${1:-}" in
remove | 0)
	if [ -d /run/systemd/system ]; then
		systemctl disable --now keyheat-collector.service keyheat-reporter.service
	fi
	;;
esac
