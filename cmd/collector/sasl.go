package main

import (
	"context"
	"slices"
	"sync"

	"github.com/aws/aws-msk-iam-sasl-signer-go/signer"
	"github.com/aws/aws-sdk-go-v2/aws"

	"github.com/keyheat/keyheat/internal/cli"
	"github.com/keyheat/keyheat/internal/daemon"
	"github.com/keyheat/keyheat/internal/settings/config"
	"github.com/keyheat/keyheat/internal/source/kafka/wire"
)

// mskIAM authenticates to Amazon MSK by the AWS SDK's credentials.
const mskIAM = "AWS_MSK_IAM"

func (s SASL) check(encrypted bool, f *config.Faults) {
	switch {
	case s.Mechanism == "" && s != SASL{}:
		f.Addf("kafka.sasl.mechanism", "the other settings of kafka.sasl have no effect without it: write PLAIN, SCRAM-SHA-256, SCRAM-SHA-512 or %s", mskIAM)
	case s.Mechanism == mskIAM && !encrypted:
		f.Addf("kafka.tls.enabled", "%s sends a token that others could use: set kafka.tls.enabled to true", mskIAM)
	case s.Mechanism == mskIAM && s != SASL{Mechanism: mskIAM}:
		f.Addf("kafka.sasl.user", "%s takes the AWS SDK's credentials: remove user and password", mskIAM)
	case s.Mechanism == mskIAM || s.Mechanism == "":
	default:
		if _, err := s.mechanism(); err != nil {
			f.Addf("kafka.sasl.mechanism", "%w: or %s for Amazon MSK", err, mskIAM)
		}
	}
}

// mechanism returns how to authenticate; nil for not at all.
func (s SASL) mechanism() (wire.Authentication, error) {
	switch s.Mechanism {
	case "":
		return nil, nil
	case mskIAM:
		return wire.Bearer{Token: new(iam).token}, nil
	}
	return wire.Mechanism(s.Mechanism, s.User, string(s.Password))
}

// iam are the SDK's settings, once they could be loaded; it keeps its credentials fresh
// by itself.
type iam struct {
	mu       sync.Mutex
	settings *aws.Config
}

func (i *iam) load(ctx context.Context) (aws.Config, error) {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.settings == nil {
		settings, err := cli.AWS(ctx)
		if err != nil {
			return settings, err
		}
		i.settings = &settings
	}
	return *i.settings, nil
}

// token signs a token that lets its holder connect for a quarter of an hour.
func (i *iam) token(ctx context.Context) (string, error) {
	settings, err := i.load(ctx)
	if err != nil {
		return "", err
	}
	token, _, err := signer.GenerateAuthTokenFromCredentialsProvider(ctx, settings.Region, settings.Credentials)
	return token, err
}

// describeExposure names the secrets and data that cross the network in the clear; empty
// for none.
func (k *Kafka) describeExposure() string {
	local := !slices.ContainsFunc(k.Brokers, func(b string) bool { return !daemon.IsLoopbackAddress(b) })
	if k.TLS.Enabled || k.SASL.Mechanism == "" || local {
		return ""
	}
	if k.SASL.Mechanism == wire.Plain {
		return "SASL PLAIN without TLS sends the password in the clear: set kafka.tls.enabled to true"
	}
	return k.SASL.Mechanism + " without TLS protects the password, and not the samples: set kafka.tls.enabled to true"
}
