// Package standin starts the DynamoDBs that others wrote by scripts/standin: dynalite, ministack
// and moto. It is for tests only.
package standin

import (
	"context"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/keyheat/keyheat/internal/testsupport/await"
)

// Start starts a DynamoDB for this test on loopback, and returns its address. scripts is the path
// of the folder with the script.
func Start(t *testing.T, scripts, name string) string {
	t.Helper()
	script := filepath.Join(scripts, "standin")
	if out, err := exec.CommandContext(t.Context(), script, name, "install").CombinedOutput(); err != nil {
		t.Fatalf("install %s: %v\n%s", name, err, out)
	}
	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := listener.Addr().String()
	_ = listener.Close()
	_, port, _ := net.SplitHostPort(address)
	log, err := os.Create(filepath.Join(t.TempDir(), name+".log"))
	if err != nil {
		t.Fatal(err)
	}
	// It ends in the cleanup, after the test's context.
	cmd := exec.CommandContext(context.WithoutCancel(t.Context()), script, name, "run", port)
	cmd.Stdout, cmd.Stderr = log, log
	// A group of its own, so that what it starts ends with it.
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
		_ = cmd.Wait()
		_ = log.Close()
	})
	client := dynamodb.NewFromConfig(Config("http://" + address))
	// The first request makes it load what it is of, which takes long beside other tests.
	await.Until(t, name+" answers", func() bool {
		ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
		defer cancel()
		_, err := client.ListTables(ctx, &dynamodb.ListTablesInput{})
		return err == nil
	})
	return "http://" + address
}

// Config is of a client of the DynamoDB at an address.
func Config(endpoint string) aws.Config {
	return aws.Config{
		Region: "eu-west-1", BaseEndpoint: &endpoint,
		Credentials: aws.CredentialsProviderFunc(func(context.Context) (aws.Credentials, error) {
			return aws.Credentials{AccessKeyID: "test", SecretAccessKey: "test"}, nil
		}),
	}
}
