package cli_test

import (
	"os"
	"testing"

	"github.com/aws/smithy-go/logging"

	"github.com/keyheat/keyheat/internal/cli"
)

// TestTheSDKWarnsNobody: what the SDK logs by itself goes to the terminal unless it is told
// otherwise.
func TestTheSDKWarnsNobody(t *testing.T) {
	for name, value := range map[string]string{
		"AWS_REGION": "eu-west-1", "AWS_CONFIG_FILE": os.DevNull, "AWS_SHARED_CREDENTIALS_FILE": os.DevNull, "AWS_PROFILE": "",
	} {
		t.Setenv(name, value)
	}
	c, err := cli.AWS(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if c.Logger != (logging.Nop{}) {
		t.Errorf("the SDK logs with %T", c.Logger)
	}
}
