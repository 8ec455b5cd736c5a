package contributorinsights

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/smithy-go"

	"github.com/keyheat/keyheat/internal/aws/awserror"
	"github.com/keyheat/keyheat/internal/say/wording"
	"github.com/keyheat/keyheat/sample"
)

// Tables are the operations of DynamoDB that this package uses; *dynamodb.Client is one.
type Tables interface {
	DescribeContributorInsights(context.Context, *dynamodb.DescribeContributorInsightsInput, ...func(*dynamodb.Options)) (*dynamodb.DescribeContributorInsightsOutput, error)
}

// Rule is one of DynamoDB's rules, by the part of its name that identifies its counts.
type Rule string

// The rules of a table or index; the rules of items exist only with a sort key.
const (
	AccessedKeys   Rule = "PKC"
	AccessedItems  Rule = "SKC"
	ThrottledKeys  Rule = "PKT"
	ThrottledItems Rule = "SKT"
)

// prefix begins the names of DynamoDB's rules; the rule and its table or index follow.
const prefix = "DynamoDBContributorInsights-"

// plain are the names of rules: prefix, a table's and an index's name and a number.
var plain = regexp.MustCompile(`^[a-zA-Z0-9_.-]+$`)

// ErrDenied means that this role may not ask whether Contributor Insights is enabled.
var ErrDenied = errors.New("DescribeContributorInsights is denied: allow dynamodb:DescribeContributorInsights on the table and its indexes to this role")

// Setup is how Contributor Insights is enabled for a table or index.
type Setup struct {
	Target sample.Target
	Rules  map[Rule]string
	// status and failure are DynamoDB's.
	status  types.ContributorInsightsStatus
	failure string
}

// Describe asks how Contributor Insights is enabled. Its error is a sentence with the
// cause and the remedy; a disabled one is no error.
func Describe(ctx context.Context, api Tables, of sample.Target) (Setup, error) {
	in := &dynamodb.DescribeContributorInsightsInput{TableName: aws.String(of.Table)}
	if of.Index != "" {
		in.IndexName = aws.String(of.Index)
	}
	out, err := api.DescribeContributorInsights(ctx, in)
	if err != nil {
		return Setup{}, awserror.Explain("DescribeContributorInsights", "DynamoDB", err, ErrDenied,
			errors.New("there is no such table or index in this account and region: correct its name, AWS_REGION or the credentials"))
	}
	s := Setup{Target: of, Rules: map[Rule]string{}, status: out.ContributorInsightsStatus}
	for _, name := range out.ContributorInsightsRuleList {
		if !plain.MatchString(name) {
			continue // it would be part of a command that people run
		}
		rule, _, _ := strings.Cut(strings.TrimPrefix(name, prefix), "-")
		s.Rules[Rule(rule)] = name
	}
	if f := out.FailureException; f != nil {
		s.failure = awserror.Text(&smithy.GenericAPIError{Code: aws.ToString(f.ExceptionName), Message: aws.ToString(f.ExceptionDescription)})
	}
	return s, nil
}

// ErrDisabled returns a sentence with the cause and the remedy if there is nothing to
// read; nil if Contributor Insights is enabled.
func (s *Setup) ErrDisabled() error {
	switch s.status {
	case types.ContributorInsightsStatusEnabled:
		if len(s.Rules) == 0 {
			return errors.New("its Contributor Insights is enabled, and has no rules: disable and enable it")
		}
		return nil
	case types.ContributorInsightsStatusEnabling:
		return errors.New("its Contributor Insights is being enabled: try again in some minutes, when it has counted some")
	case types.ContributorInsightsStatusDisabling:
		return fmt.Errorf("its Contributor Insights is being disabled, and its counts are deleted: %s", s.advice())
	case types.ContributorInsightsStatusFailed:
		return fmt.Errorf("its Contributor Insights could not be enabled (%s): mend that, and then %s", cmp.Or(s.failure, "DynamoDB does not say why"), s.advice())
	}
	return fmt.Errorf("its Contributor Insights is not enabled: %s", s.advice())
}

// advice is the command that enables it.
func (s *Setup) advice() string {
	return fmt.Sprintf("enable it for as long as you look for hot keys, with %s; or leave it enabled for throttled keys only, which is paid by throttled requests, with %s",
		s.EnableAll(), s.enable(types.ContributorInsightsModeThrottledKeys))
}

// enable returns the command that enables a mode.
func (s *Setup) enable(mode types.ContributorInsightsMode) string {
	command := "aws dynamodb update-contributor-insights --table-name " + wording.Printable(s.Target.Table)
	if s.Target.Index != "" {
		command += " --index-name " + wording.Printable(s.Target.Index)
	}
	return command + " --contributor-insights-action ENABLE --contributor-insights-mode " + string(mode)
}

// EnableAll returns the command that counts all keys.
func (s *Setup) EnableAll() string {
	return s.enable(types.ContributorInsightsModeAccessedAndThrottledKeys)
}

// Says describes in a sentence the counted keys, and how to change the mode.
func (s *Setup) Says() string {
	if err := s.ErrDisabled(); err != nil {
		return err.Error()
	}
	names := strings.Join(slices.Sorted(maps.Values(s.Rules)), ", ")
	if _, all := s.Rules[AccessedKeys]; all {
		return "its Contributor Insights counts accessed and throttled keys, which is paid by every request (" + names + "); throttled keys only, which costs little: " + s.enable(types.ContributorInsightsModeThrottledKeys)
	}
	return "its Contributor Insights counts throttled keys only, which costs little (" + names + "); accessed keys too, which is paid by every request: " + s.EnableAll()
}
