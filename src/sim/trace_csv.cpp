#include "sim/trace_csv.h"

#include <algorithm>
#include <charconv>

namespace gang::sim {
namespace {

std::vector<std::string_view> cells_of(std::string_view line) {
  std::vector<std::string_view> cells;
  for (;;) {
    const std::size_t comma = line.find(',');
    cells.push_back(line.substr(0, comma));
    if (comma == std::string_view::npos) return cells;
    line.remove_prefix(comma + 1);
  }
}

/// Nothing of the text but digits makes a number.
bool parse_digits(std::string_view text, std::int64_t& number) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() && end == text.data() + text.size() && number >= 0;
}

}  // namespace

Result<CsvTable> CsvTable::parse(std::string_view text) {
  CsvTable table;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(text.size(), end + 1));
    if (!line.empty() && line.back() == '\r') line.remove_suffix(1);
    if (line.empty()) continue;
    std::vector<std::string_view> cells = cells_of(line);
    if (table.names_.empty()) {
      table.names_ = std::move(cells);
      continue;
    }
    table.rows_.push_back(std::move(cells));
    if (table.rows_.back().size() == table.names_.size()) continue;
    return fail(Code::kInvalidArgument,
                "row " + std::to_string(table.rows_.size()) +
                    " has another number of cells than the line of names; give a table of "
                    "comma-separated values");
  }
  return table;
}

bool CsvTable::has(std::string_view column) const {
  return std::ranges::find(names_, column) != names_.end();
}

Result<std::size_t> CsvTable::column(std::string_view name) const {
  const auto found = std::ranges::find(names_, name);
  if (found != names_.end()) return static_cast<std::size_t>(found - names_.begin());
  return fail(Code::kInvalidArgument,
              "there is no column " + std::string(name) + "; give a table that has it");
}

Result<std::int64_t> CsvTable::number(std::size_t row, std::size_t column) const {
  std::int64_t number = 0;
  if (parse_digits(cell(row, column), number)) return number;
  return fail(Code::kInvalidArgument, where(row, column) + " is no whole number");
}

Result<std::int64_t> CsvTable::milli(std::size_t row, std::size_t column) const {
  const std::string_view text = cell(row, column);
  const std::size_t point = std::min(text.find('.'), text.size());
  std::string digits(text.substr(0, point));
  std::string after(text.substr(std::min(text.size(), point + 1)));
  after.resize(3, '0');
  std::int64_t number = 0;
  if (text.size() <= point + 4 && parse_digits(digits + after, number)) return number;
  return fail(Code::kInvalidArgument,
              where(row, column) + " is no number with at most three digits after the point");
}

std::string CsvTable::where(std::size_t row, std::size_t column) const {
  return "row " + std::to_string(row + 1) + ", column " + std::string(names_[column]);
}

}  // namespace gang::sim
