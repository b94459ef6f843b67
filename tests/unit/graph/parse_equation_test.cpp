// Equations as text: the two forms, parentheses, scalars, and pointed errors.
#include "graph/parse_equation.hpp"
#include "graph/parse_names.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <string>

#include "message_of.hpp"
#include "plated/error.hpp"

namespace plated::graph {
namespace {

using test::message_of;

/// Terms as "(t)|a|b", one string each, so that expectations read like equations.
std::vector<std::string> spelled(const std::vector<Term>& terms) {
  std::vector<std::string> result;
  for (const Term& term : terms) {
    std::string& text = result.emplace_back();
    for (const WrittenDim& dim : term.dims) {
      if (!text.empty()) text += "|";
      text += dim.tied ? "(" + std::string(dim.name) + ")" : std::string(dim.name);
    }
  }
  return result;
}

std::vector<std::string> operands(std::string_view text, std::optional<bool> spaced = {}) {
  return spelled(parse_equation(text, spaced).operands);
}
std::vector<std::string> outputs(std::string_view text, std::optional<bool> spaced = {}) {
  return spelled(parse_equation(text, spaced).outputs);
}
std::string error(std::string_view text, std::optional<bool> spaced = {}) {
  return message_of<ParseError>([&] { (void)parse_equation(text, spaced); });
}
using Strings = std::vector<std::string>;

TEST(ParseEquation, CompactFormHasOneLetterADim) {
  EXPECT_EQ(operands("x,iy,ijxy->"), (Strings{"x", "i|y", "i|j|x|y"}));
  EXPECT_FALSE(parse_equation("x,iy,ijxy->", {}).spaced);
}

TEST(ParseEquation, SpacedFormHasNamesOfAnyLength) {
  EXPECT_EQ(operands("user, item_2 Rating ->"), (Strings{"user", "item_2|Rating"}));
  EXPECT_TRUE(parse_equation("x, i y ->", {}).spaced);
}

TEST(ParseEquation, BlanksAroundTermsDoNotMakeItSpaced) {
  EXPECT_EQ(operands("  x , iy\t,\nijxy -> "), (Strings{"x", "i|y", "i|j|x|y"}));
  EXPECT_EQ(outputs(" ab -> a , b "), (Strings{"a", "b"}));
}

TEST(ParseEquation, BlanksAnywhereInsideATermOrParenthesisMakeItSpaced) {
  EXPECT_EQ(operands("ab,c d->"), (Strings{"ab", "c|d"}));
  EXPECT_EQ(operands("(t s)ab->"), (Strings{"(t)|(s)|ab"}));
  EXPECT_EQ(operands("(t) ab->"), (Strings{"(t)|ab"}));
  EXPECT_EQ(outputs("ab,cd->ab cd"), (Strings{"ab|cd"}));
}

TEST(ParseEquation, OptionForcesEitherForm) {
  EXPECT_EQ(operands("time->", true), Strings{"time"});
  EXPECT_EQ(operands("a b, c d->", false), (Strings{"a|b", "c|d"}));
}

TEST(ParseEquation, ParenthesesTieDimsInBothForms) {
  EXPECT_EQ(operands("(ts)ab->"), (Strings{"(t)|(s)|a|b"}));
  EXPECT_EQ(operands("(t s) a b ->"), (Strings{"(t)|(s)|a|b"}));
  EXPECT_EQ(operands("a(t)b(s)->"), (Strings{"a|(t)|b|(s)"}));
  EXPECT_EQ(operands("( t s )a b->"), (Strings{"(t)|(s)|a|b"}));
}

TEST(ParseEquation, BlankTermsAreScalars) {
  EXPECT_EQ(operands(",a->"), (Strings{"", "a"}));
  EXPECT_EQ(operands("a,,->"), (Strings{"a", "", ""}));
  EXPECT_EQ(operands("->"), Strings{""});
  EXPECT_EQ(outputs("a->"), Strings{""});
  EXPECT_EQ(outputs("a->,a"), (Strings{"", "a"}));
  EXPECT_EQ(outputs("a->a, "), (Strings{"a", ""}));
  EXPECT_EQ(outputs("ab,bc->a,b,c"), (Strings{"a", "b", "c"}));
}

TEST(ParseEquation, RepeatedDimsAreKept) { EXPECT_EQ(operands("iij->"), Strings{"i|i|j"}); }

TEST(ParseEquation, TermsKeepTheirTextWithoutBlanksAround) {
  const ParsedEquation parsed = parse_equation(" (t) a  b ,c-> b ", {});
  EXPECT_EQ(parsed.operands[0].text, "(t) a  b");
  EXPECT_EQ(parsed.operands[1].text, "c");
  EXPECT_EQ(parsed.outputs[0].text, "b");
}

TEST(ParseEquation, AnyCodePointIsOneLetter) {
  EXPECT_EQ(operands("αβ,ββ𝒳->"), (Strings{"α|β", "β|β|𝒳"}));
  EXPECT_EQ(operands("größe 時間 ->"), Strings{"größe|時間"});
  EXPECT_EQ(operands("a+1*->"), Strings{"a|+|1|*"});
}

TEST(ParseEquation, OneCharacterOfAnyKindIsANameInTheSpacedFormToo) {
  EXPECT_EQ(operands("a + 1 * ->"), Strings{"a|+|1|*"});
}

TEST(ParseEquation, SpacesOfDocumentsAreBlanks) { EXPECT_EQ(operands("a\u00A0b\u3000->"), Strings{"a|b"}); }

TEST(ParseEquation, SpacedNamesMayCarryTheIndexOfACopy) {
  EXPECT_EQ(operands("y[i=0,j=2] x, y[i=1,j=2] x->"), (Strings{"y[i=0,j=2]|x", "y[i=1,j=2]|x"}));
}

TEST(ParseEquation, ErrorsShowColumnAndCaret) {
  EXPECT_EQ(error("ab,b-c->"), "'-' without '>' after it (column 5)\n  ab,b-c->\n      ^");
}

TEST(ParseEquation, ColumnsCountLettersNotBytes) { EXPECT_SAYS(error("αβ^->"), "(column 3)\n  αβ^->\n    ^"); }

TEST(ParseEquation, LongEquationsAreShownInPart) {
  std::string text(5000, 'a');
  const std::string message = error(text + "^^" + text + "->");
  EXPECT_SAYS(message, "(column 5001)");
  EXPECT_LT(message.size(), 400U);
  const std::size_t shown = message.find('\n') + 1;
  const std::size_t caret_line = message.find('\n', shown) + 1;
  // The leading dots are three bytes but one column.
  EXPECT_EQ(message.find('^', caret_line) - caret_line, message.find('^', shown) - shown - 2);
}

TEST(ParseEquation, RefusesMissingAndSecondArrows) {
  EXPECT_SAYS(error("ab,bc"), "no '->' (column 6)");
  EXPECT_SAYS(error(""), "no '->'");
  EXPECT_SAYS(error("a->b->c"), "second (column 5)");
  EXPECT_SAYS(error("a>b"), "'>' without '-'");
  EXPECT_SAYS(error("a -"), "'-' without '>'");
  EXPECT_SAYS(error("a b - > b"), "'-' without '>'");
}

TEST(ParseEquation, RefusesParenthesesThatDoNotFit) {
  EXPECT_SAYS(error("(ta->"), "not closed in its term (column 1)");
  EXPECT_SAYS(error("(t"), "not closed in its term (column 1)");
  EXPECT_SAYS(error("(t,s)a->"), "not closed in its term (column 1)");
  EXPECT_SAYS(error("ta)->"), "not opened in its term (column 3)");
  EXPECT_SAYS(error("((t))a->"), "do not nest (column 2)");
  EXPECT_SAYS(error("()a->"), "no dim in this parenthesis (column 1)");
  EXPECT_SAYS(error("( )a->"), "no dim in this parenthesis (column 1)");
  EXPECT_SAYS(error("(t)a->(t)a"), "an output cannot have them (column 7)");
}

TEST(ParseEquation, EndsOfChainsAreNamesWithAMark) {
  EXPECT_EQ(operands("a^b,(t)abc,tc$->"), (Strings{"a|^b", "(t)|a|b|c", "t|c$"}));
  EXPECT_EQ(operands("a$^bα$β->"), Strings{"a$|^b|α$|β"});
  EXPECT_EQ(operands("state ^next, last$(time) state ->"), (Strings{"state|^next", "last$|(time)|state"}));
  EXPECT_EQ(operands("^y[i=0] y[i=1]$ ->"), Strings{"^y[i=0]|y[i=1]$"});
  EXPECT_EQ(outputs("ab->^a,b$"), (Strings{"^a", "b$"}));
  EXPECT_FALSE(parse_equation(" ^a , b$ -> ", {}).spaced);
}

TEST(ParseEquation, RefusesReservedCharacters) {
  EXPECT_SAYS(error("...a->"), "ellipsis");
  EXPECT_SAYS(error("a[->"), "brackets only follow a name, in spaced form");
  EXPECT_SAYS(error("a b[i=0 ->"), "not closed (column 4)");
  EXPECT_SAYS(error(std::string("a\x01->")), "cannot be a name");
}

TEST(ParseEquation, RefusesMarksOfEndsThatMarkNothing) {
  EXPECT_SAYS(error("^->"), "'^' stands before the name of a variable, as in '^b' (column 1)");
  EXPECT_SAYS(error("a ^ b ->"), "'^' stands before the name of a variable, as in '^b' (column 3)");
  EXPECT_SAYS(error("^^a->"), "'^' stands before");
  EXPECT_SAYS(error("$a->"), "'$' stands after the name of a variable, as in 'b$' (column 1)");
  EXPECT_SAYS(error("a$$->"), "'$' stands after");
  EXPECT_SAYS(error("a b^ ->"), "reserved");
  EXPECT_SAYS(error("a^b c ->"), "reserved");
  EXPECT_SAYS(error("^a$->"), "not both (column 1)");
  EXPECT_SAYS(error("x ^ab$ ->"), "not both (column 3)");
  EXPECT_SAYS(error("(^t)a->"), "an end of a chain cannot stand in parentheses (column 2)");
  EXPECT_SAYS(error("a (s t$) b ->"), "an end of a chain cannot stand in parentheses (column 6)");
}

TEST(ParseEquation, RefusesPunctuationInsideLongerNames) {
  EXPECT_SAYS(error("a.b c ->"), "cannot be part of a longer name");
  EXPECT_SAYS(error("+a c ->"), "cannot be part of a longer name");
}

TEST(ParseEquation, RefusesBytesThatAreNotUtf8) {
  EXPECT_SAYS(error("a\xFF->"), "not UTF-8 (column 2)");
  EXPECT_SAYS(error("a\xCE->"), "not UTF-8");
  EXPECT_SAYS(error("a\xC0\x80->"), "not UTF-8");      // overlong
  EXPECT_SAYS(error("a\xED\xA0\x80->"), "not UTF-8");  // surrogate
  EXPECT_SAYS(error("a\xF5\x80\x80\x80->"), "not UTF-8");
}

TEST(ParseNames, FollowsTheFormOfTheEquation) {
  using Views = std::vector<std::string_view>;
  EXPECT_EQ(parse_names("ij", false, "plates"), (Views{"i", "j"}));
  EXPECT_EQ(parse_names(" i j, k", false, "plates"), (Views{"i", "j", "k"}));
  EXPECT_EQ(parse_names("ij", true, "plates"), Views{"ij"});
  EXPECT_EQ(parse_names("user, item time", true, "plates"), (Views{"user", "item", "time"}));
  EXPECT_EQ(parse_names("", true, "plates"), Views{});
}

TEST(ParseNames, NamesTheListInErrors) {
  EXPECT_SAYS(message_of<ParseError>([] { (void)parse_names("i(j)", false, "batch"); }), "'batch'");
}

TEST(ParseNames, RefusesEndsOfChains) {
  EXPECT_SAYS(message_of<ParseError>([] { (void)parse_names("i^j", false, "batch"); }),
              "reserved for the ends of chains");
  EXPECT_SAYS(message_of<ParseError>([] { (void)parse_names("i j$", true, "batch"); }),
              "reserved for the ends of chains");
}

TEST(ParseLink, ReadsSourceAndTargetInBothForms) {
  using Pair = std::pair<std::string_view, std::string_view>;
  EXPECT_EQ(parse_link("a->b", false), (Pair{"a", "b"}));
  EXPECT_EQ(parse_link("  a ->\tb ", false), (Pair{"a", "b"}));
  EXPECT_EQ(parse_link("state->next", true), (Pair{"state", "next"}));
  EXPECT_EQ(parse_link("y[i=0] -> z[i=0]", true), (Pair{"y[i=0]", "z[i=0]"}));
}

TEST(ParseLink, PointsAtBadText) {
  const auto error_of = [](std::string_view text, bool spaced = false) {
    return message_of<ParseError>([&] { (void)parse_link(text, spaced); });
  };
  EXPECT_SAYS(error_of(""), "a name is missing here: a link reads 'source->target'");
  EXPECT_SAYS(error_of("a"), "'->' is missing here");
  EXPECT_SAYS(error_of("a b"), "'->' is missing here: a link reads 'source->target', as in 'a->b' (column 3)");
  EXPECT_SAYS(error_of("a-b"), "'->' is missing here");
  EXPECT_SAYS(error_of("a->"), "a name is missing here");
  EXPECT_SAYS(error_of("->b"), "a name is missing here");
  EXPECT_SAYS(error_of("a->b->c"), "a link ends after its target");
  EXPECT_SAYS(error_of("a->bc"), "a link ends after its target");
  EXPECT_SAYS(error_of("a->b c", true), "a link ends after its target");
  EXPECT_SAYS(error_of("^a->b"), "reserved for the ends of chains (column 1)");
  EXPECT_SAYS(error_of("a->b$", true), "reserved for the ends of chains (column 5)");
}

TEST(ParseEquation, ReadsTensOfThousandsOfNamesInOnePass) {
  std::string text;
  for (int k = 0; k < 20000; ++k) {
    text.append(k > 0 ? ", v" : "v").append(std::to_string(k)).append(" v").append(std::to_string(k + 1));
  }
  const auto start = std::chrono::steady_clock::now();
  EXPECT_EQ(parse_equation(text + " ->", {}).operands.size(), 20000U);
  // Takes about 10 ms; a quadratic reader takes minutes.
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(2));
}

}  // namespace
}  // namespace plated::graph
