package contributorinsights

import (
	"context"
	"errors"
	"fmt"
	"regexp"
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

// The rules of a table or index that are read; the rule of items exists only with a sort key.
const (
	AccessedKeys  Rule = "PKC"
	AccessedItems Rule = "SKC"
	ThrottledKeys Rule = "PKT"
)

// prefix begins the names of DynamoDB's rules; the rule and its table or index follow.
const prefix = "DynamoDBContributorInsights-"

// plain are the names of rules: prefix, a table's and an index's name and a number.
var plain = regexp.MustCompile(`^[a-zA-Z0-9_.-]+$`)

// ErrDenied means that this role may not ask whether Contributor Insights is enabled.
var ErrDenied = errors.New("DescribeContributorInsights is denied: allow dynamodb:DescribeContributorInsights on the table and its indexes to this role")

// Rules are the names of the rules of a table's or index's Contributor Insights.
type Rules map[Rule]string

// Describe asks for the rules. Its error is a sentence with the cause and the remedy, also if
// Contributor Insights is not enabled.
func Describe(ctx context.Context, api Tables, of sample.Target) (Rules, error) {
	in := &dynamodb.DescribeContributorInsightsInput{TableName: aws.String(of.Table)}
	if of.Index != "" {
		in.IndexName = aws.String(of.Index)
	}
	out, err := api.DescribeContributorInsights(ctx, in)
	if err != nil {
		return nil, awserror.Explain("DescribeContributorInsights", "DynamoDB", err, ErrDenied,
			errors.New("there is no such table or index in this account and region: correct its name, AWS_REGION or the credentials"))
	}
	rules := Rules{}
	for _, name := range out.ContributorInsightsRuleList {
		if rule, _, _ := strings.Cut(strings.TrimPrefix(name, prefix), "-"); plain.MatchString(name) {
			rules[Rule(rule)] = name
		}
	}
	status := string(out.ContributorInsightsStatus)
	if out.ContributorInsightsStatus == types.ContributorInsightsStatusEnabled && len(rules) > 0 {
		return rules, nil
	}
	if f := out.FailureException; f != nil {
		status += ", " + awserror.Text(&smithy.GenericAPIError{Code: aws.ToString(f.ExceptionName), Message: aws.ToString(f.ExceptionDescription)})
	}
	return nil, fmt.Errorf("its Contributor Insights counts nothing (%s): enable it, and let it count for some minutes: %s", wording.Printable(status), enable(of))
}

// enable returns the command that counts all keys.
func enable(of sample.Target) string {
	command := "aws dynamodb update-contributor-insights --table-name " + wording.Printable(of.Table)
	if of.Index != "" {
		command += " --index-name " + wording.Printable(of.Index)
	}
	return command + " --contributor-insights-action ENABLE --contributor-insights-mode " + string(types.ContributorInsightsModeAccessedAndThrottledKeys)
}
