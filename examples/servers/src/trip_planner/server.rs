//! The server in both eras of MCP: tools, one resource, one prompt. Knows no flights.

use std::sync::{Arc, Mutex, PoisonError};

use rmcp::{
    ErrorData, RoleServer, ServerHandler,
    model::{
        CallToolRequestParams, CallToolResponse, GetPromptRequestParams, GetPromptResponse, GetPromptResult,
        Implementation, ListPromptsResult, ListResourcesResult, ListToolsResult, MetaObject, PaginatedRequestParams,
        Prompt, PromptArgument, PromptMessage, ProtocolVersion, ReadResourceRequestParams, ReadResourceResponse,
        ReadResourceResult, Resource, ResourceContents, Role, ServerCapabilities, ServerConfig, Tool,
    },
    service::RequestContext,
};
use serde_json::json;

use crate::{
    tools::{self, Call, Misread},
    trip::Trip,
};

#[derive(Clone, Debug, Default)]
pub(crate) struct TripPlanner {
    trip: Arc<Mutex<Trip>>,
}

impl ServerHandler for TripPlanner {
    fn get_info(&self) -> ServerConfig {
        let capabilities = ServerCapabilities::builder().enable_tools().enable_resources().enable_prompts().build();
        ServerConfig::new(capabilities)
            .with_server_info(identity())
            .with_instructions("Search flights, convert the price to euros, then book within the budget.")
    }

    async fn list_tools(
        &self,
        _page: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        Ok(ListToolsResult { meta: signature(&context), ..ListToolsResult::with_all_items(tools::all()) })
    }

    fn get_tool(&self, name: &str) -> Option<Tool> {
        tools::all().into_iter().find(|tool| tool.name == name)
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let call = Call::read(&request.name, request.arguments.as_ref()).map_err(|misread| match misread {
            Misread::Tool(name) => ErrorData::invalid_params(format!("unknown tool: {name}"), None),
            Misread::Argument(name) => ErrorData::invalid_params(format!("missing or wrong argument: {name}"), None),
        })?;
        let mut result = call.run(&mut self.trip.lock().unwrap_or_else(PoisonError::into_inner));
        result.meta = signature(&context);
        Ok(result.into())
    }

    async fn list_resources(
        &self,
        _page: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        let itinerary = Resource::new(ITINERARY, "itinerary").with_description("What has been booked so far.");
        Ok(ListResourcesResult { meta: signature(&context), ..ListResourcesResult::with_all_items(vec![itinerary]) })
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        if request.uri != ITINERARY {
            return Err(ErrorData::resource_not_found("no such resource", Some(json!({ "uri": request.uri }))));
        }
        let text = self.trip.lock().unwrap_or_else(PoisonError::into_inner).itinerary();
        let mut result = ReadResourceResult::new(vec![ResourceContents::text(text, request.uri)]);
        result.meta = signature(&context);
        Ok(result.into())
    }

    async fn list_prompts(
        &self,
        _page: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListPromptsResult, ErrorData> {
        let mut city = PromptArgument::new("city");
        city.required = Some(true);
        let plan = Prompt::new(PLAN, Some("Plans a trip within a budget."), Some(vec![city]));
        Ok(ListPromptsResult { meta: signature(&context), ..ListPromptsResult::with_all_items(vec![plan]) })
    }

    async fn get_prompt(
        &self,
        request: GetPromptRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<GetPromptResponse, ErrorData> {
        if request.name != PLAN {
            return Err(ErrorData::invalid_params(format!("unknown prompt: {}", request.name), None));
        }
        let city = request.arguments.as_ref().and_then(|given| given.get("city")).and_then(|city| city.as_str());
        let city = city.ok_or_else(|| ErrorData::invalid_params("missing argument: city", None))?;
        let asks = format!("Find the cheapest flight to {city}, convert its price to euros and book it under 300 EUR.");
        let mut result = GetPromptResult::new(vec![PromptMessage::new_text(Role::User, asks)]);
        result.meta = signature(&context);
        Ok(result.into())
    }
}

/// A stateless answer says who gave it; a handshake already did.
fn signature(context: &RequestContext<RoleServer>) -> Option<MetaObject> {
    let version = context.protocol_version()?;
    if version.as_str() < ProtocolVersion::V_2026_07_28.as_str() {
        return None;
    }
    let mut meta = MetaObject::new();
    meta.0.insert(SERVER_INFO.to_owned(), serde_json::to_value(identity()).ok()?);
    Some(meta)
}

fn identity() -> Implementation {
    Implementation::new("trip-planner", env!("CARGO_PKG_VERSION"))
}

const ITINERARY: &str = "trip://itinerary";
const PLAN: &str = "plan_trip";
const SERVER_INFO: &str = "io.modelcontextprotocol/serverInfo";
