package receiver_test

import (
	"testing"

	"github.com/keyheat/keyheat/internal/alert/receiver"
)

func TestMetadataAddressesAreNotDialled(t *testing.T) {
	t.Parallel()
	for address, allowed := range map[string]bool{
		"127.0.0.1:80":                true,
		"[::1]:80":                    true,
		"10.0.0.8:443":                true,
		"192.168.1.4:443":             true,
		"93.184.216.34:443":           true,
		"[2606:2800:220:1::1]:443":    true,
		"[fd12:3456::1]:443":          true,
		"169.254.169.254:80":          false,
		"169.254.170.2:80":            false,
		"[::ffff:169.254.169.254]:80": false,
		"[64:ff9b::a9fe:a9fe]:80":     false,
		"[fe80::1%lo]:80":             false,
		"[fd00:ec2::254]:80":          false,
		"100.100.100.200:80":          false,
		"168.63.129.16:80":            false,
		"192.0.0.192:80":              false,
		"[fd00:42::42]:80":            false,
		"[fd20:ce::254]:80":           false,
		"[64:ff9b:1::a9fe:a9fe]:80":   false,
		"[2002:a9fe:a9fe::1]:80":      false,
		"[2002:a00:8::1]:80":          true,
		"[::169.254.169.254]:80":      false,
		"0.0.0.0:80":                  false,
		"224.0.0.1:80":                false,
		"[ff02::1]:80":                false,
	} {
		err := receiver.RefuseMetadata("tcp", address, nil)
		if (err == nil) != allowed {
			t.Errorf("%s: %v", address, err)
		}
	}
}
